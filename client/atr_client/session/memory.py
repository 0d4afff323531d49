"""A cell's memory, reached over MCP by the harness; every call is logged."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp.types import TextContent

from atr_client.errors import CellAbort
from atr_client.session.agent_memory import SERVER, SessionMemory
from atr_client.session.readability import context_digest
from atr_client.session.recorder import SessionRecorder
from atr_data.trajectory import Trajectory
from atr_memory import MemoryFault, MemoryLayer, MemoryStore, StoreError
from atr_memory.served_tools import CONNECTION_ERRORS
from atr_memory.server import build_view_server
from atr_memory.view import MemoryView
from atr_servers.connections import call_in_process, connect


class MemoryClient:
    """The memory of one cell. Calls raise CellAbort when the server does not answer or refuses.

    Each call is logged under the session it is made for. The log holds digests in place of transcripts and
    contexts: both follow from the trajectories, and would make it grow with the square of the sessions.
    """

    def __init__(self, client: Client, view: MemoryView) -> None:
        self._client = client
        self._view = view

    async def render(self, recorder: SessionRecorder, query: str = "") -> str | None:
        """The context as an agent would see it now, or None when there is nothing to remember. `query` is
        what its session is about."""
        arguments = {"query": query} if query else {}
        return (await self._call(recorder, "render_context", arguments))["context"]

    async def session(self, recorder: SessionRecorder, query: str = "") -> SessionMemory:
        """What a session that begins now has of the memory."""
        context = await self.render(recorder, query)
        try:
            digest = self._view.seen(query) if self._view.layer.offers else context_digest(context)
        except (MemoryFault, StoreError) as error:
            raise CellAbort("memory", recorder.session_id, str(error)) from error
        return SessionMemory(context, digest, self._view)

    async def append_session(self, trajectory: Trajectory, recorder: SessionRecorder) -> None:
        messages = [message.model_dump(mode="json") for message in trajectory.messages]
        arguments = {"session_id": trajectory.session_id, "messages": messages}
        await self._call(recorder, "append_session", arguments, turn_idx=len(messages))

    async def append_prior_statement(self, statement: str, recorder: SessionRecorder) -> None:
        await self._call(recorder, "append_prior_statement", {"statement": statement})

    async def freeze(self, recorder: SessionRecorder) -> str:
        """The id of a snapshot of the memory as it is now."""
        return (await self._call(recorder, "freeze", {}))["snapshot_id"]

    async def open_snapshot(self, snapshot_id: str, recorder: SessionRecorder) -> None:
        """From now on this client reads the snapshot, and cannot write."""
        await self._call(recorder, "open_snapshot", {"snapshot_id": snapshot_id})

    async def _call(
        self, recorder: SessionRecorder, tool: str, arguments: dict[str, Any], *, turn_idx: int = 0
    ) -> dict[str, Any]:
        started = time.perf_counter()
        try:
            result = await call_in_process(self._client, tool, arguments)
        except CONNECTION_ERRORS as error:
            raise CellAbort("memory", recorder.session_id, f"{tool}: {error}") from error
        answer: dict[str, Any] = json.loads(
            next(block.text for block in result.content if isinstance(block, TextContent))
        )
        recorder.call(
            turn_idx=turn_idx,
            call_id=tool,
            caller="harness",
            server=SERVER,
            tool=tool,
            arguments=_digested(arguments, "messages"),
            result=json.dumps(_digested(answer, "context"), ensure_ascii=False),
            is_error=bool(result.is_error),
            seconds=time.perf_counter() - started,
        )
        if result.is_error:
            raise CellAbort("memory", recorder.session_id, f"{tool}: {answer.get('error')}")
        return answer


@asynccontextmanager
async def open_memory(store: MemoryStore, namespace: str, layer: MemoryLayer) -> AsyncGenerator[MemoryClient]:
    view = MemoryView(store, namespace, layer)
    async with connect(build_view_server(view)) as client:
        yield MemoryClient(client, view)


def _digested(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The values, with the text of one of them replaced by its SHA-256."""
    value = values.get(name)
    if value is None:
        return dict(values)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {**values, name: f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"}
