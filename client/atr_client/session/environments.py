"""A session's tools, reached over MCP; every call of the agent is logged."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, TextContent

from atr_client.errors import CellAbort
from atr_client.models.base import ToolSpec
from atr_client.session.recorder import SessionRecorder
from atr_client.session.turns import ToolOutcome
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import ToolCall
from atr_memory.served_tools import CONNECTION_ERRORS
from atr_ontology import input_schema, load_ontology
from atr_servers import build_server
from atr_servers.connections import Target, call_in_process, connect

DROPPED_ARGUMENTS = "atr/dropped_arguments"


Caller = Callable[[Client, str, dict[str, Any]], Awaitable[CallToolResult]]


class McpEnvironment:
    """The environment as the turn loop knows it, behind an MCP client. `listed` are its tools where they are
    known: a server in this process was made to list those."""

    def __init__(
        self,
        client: Client,
        *,
        domain: str,
        tool_count: int,
        recorder: SessionRecorder,
        listed: Sequence[ToolSpec] | None = None,
    ) -> None:
        self._client = client
        self._domain = domain
        self._tool_count = tool_count
        self._listed = listed
        self._send: Caller = Client.call_tool if listed is None else call_in_process
        self._recorder = recorder

    async def tools(self) -> Sequence[ToolSpec]:
        """The tools as the server lists them. Raises CellAbort when it is not the expected number."""
        if self._listed is not None:
            return self._listed
        try:
            listed = (await self._client.list_tools()).tools
        except CONNECTION_ERRORS as error:
            raise self._abort(f"tools/list: {error}") from error
        if len(listed) != self._tool_count:
            raise self._abort(f"the server offers {len(listed)} tools, not {self._tool_count}")
        return [ToolSpec(tool.name, tool.description or "", tool.input_schema) for tool in listed]

    async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
        """A call whose arguments could not be used is answered here, with the reason. Raises CellAbort when
        the server does not answer: that is never the agent's failure."""
        if call.parse_error is not None:
            outcome = unusable(call)
            self._record(call, turn_idx, outcome, 0.0, "answered by the harness")
            return outcome
        started = time.perf_counter()
        try:
            result = await self._send(self._client, call.name, call.arguments)
        except CONNECTION_ERRORS as error:
            raise self._abort(f"{call.name}: {error}") from error
        outcome = ToolOutcome(_text(result), bool(result.is_error))
        seconds = time.perf_counter() - started
        self._record(call, turn_idx, outcome, seconds, _note(result))
        return outcome

    def _record(
        self, call: ToolCall, turn_idx: int, outcome: ToolOutcome, seconds: float, note: str | None
    ) -> None:
        self._recorder.call(
            turn_idx=turn_idx,
            call_id=call.id,
            caller="agent",
            server=self._domain,
            tool=call.name,
            arguments=call.arguments,
            result=outcome.content,
            is_error=outcome.is_error,
            seconds=seconds,
            note=note,
            raw_arguments=call.raw_arguments,
        )

    def _abort(self, reason: str) -> CellAbort:
        return CellAbort("environment", self._recorder.session_id, reason)


@asynccontextmanager
async def open_environment(
    episode: Episode,
    session: LearningSession | TestSession,
    recorder: SessionRecorder,
    *,
    target: Target | None = None,
) -> AsyncGenerator[McpEnvironment]:
    """The environment of one session, alive as long as the context.

    By default a fresh server in this process; `target` names another one that holds this session's
    environment. Raises CellAbort when it cannot be reached, ValueError when the session names a domain or a
    tool that does not exist.
    """
    whitelist = session.local_env.tools
    listed: Sequence[ToolSpec] | None = None
    if target is None:
        target = build_server(session.domain, session.local_env.references, episode.profile, whitelist)
        listed = listed_in_process(session.domain, frozenset(whitelist))
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(connect(target))
        except CONNECTION_ERRORS as error:
            raise CellAbort("environment", session.session_id, f"cannot connect: {error}") from error
        yield McpEnvironment(
            client,
            domain=session.domain,
            tool_count=expected_tool_count(session.domain, whitelist),
            recorder=recorder,
            listed=listed,
        )


@cache
def listed_in_process(domain: str, whitelist: frozenset[str]) -> tuple[ToolSpec, ...]:
    """What a server of ours lists for these tools of a domain, worked out once for all its sessions."""
    ontology = load_ontology()
    base = {tool.name for tool in ontology.base_tools}
    offered = [tool for tool in ontology.offered(domain) if tool.name in whitelist | base]
    return tuple(ToolSpec(tool.name, tool.description, input_schema(tool)) for tool in offered)


def unusable(call: ToolCall) -> ToolOutcome:
    """The answer to a call whose arguments could not be read: the server never sees it."""
    return ToolOutcome(error_text(f"{call.name} was not called: {call.parse_error}"), True)


def expected_tool_count(domain: str, whitelist: Sequence[str]) -> int:
    """How many tools the server must list: the base tools, and the domain's tools on the whitelist."""
    ontology = load_ontology()
    allowed = {tool.name for tool in ontology.domain(domain).tools} & set(whitelist)
    return len(ontology.base_tools) + len(allowed)


def _text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def _note(result: CallToolResult) -> str | None:
    dropped = (result.meta or {}).get(DROPPED_ARGUMENTS)
    return f"dropped arguments: {', '.join(dropped)}" if dropped else None


def error_text(message: str) -> str:
    """An error as tools tell it."""
    return json.dumps({"error": message}, ensure_ascii=False)
