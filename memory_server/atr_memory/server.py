"""The memory as an MCP server: the tools through which a harness keeps an agent's memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import structlog
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from atr_data.trajectory import Message
from atr_memory.layers import CONTEXT, MemoryLayer
from atr_memory.store import MemoryStore, StoreError
from atr_memory.view import MemoryView

_INTERNAL_ERROR = -32603
_INSTRUCTIONS = """\
The memory of one agent over its sessions. Append each session as it ends, freeze once, and open the snapshot
wherever the memory is to be read but not changed."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _AppendSession(_Arguments):
    session_id: str = Field(min_length=1, description="Id of the session; appending it twice adds nothing.")
    messages: list[Message] = Field(description="The session's messages, as in its trajectory.")


class _AppendPriorStatement(_Arguments):
    statement: str = Field(description="What the user said, verbatim.")


class _OpenSnapshot(_Arguments):
    snapshot_id: str = Field(description="What `freeze` answered.")


class _Nothing(_Arguments):
    pass


@dataclass(frozen=True, slots=True)
class _MemoryTool:
    title: str
    description: str
    arguments: type[_Arguments]
    run: Callable[[MemoryView, Any], dict[str, Any]]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = True


def _append_session(view: MemoryView, arguments: _AppendSession) -> dict[str, Any]:
    return {"added": view.append_session(arguments.session_id, arguments.messages)}


def _append_prior_statement(view: MemoryView, arguments: _AppendPriorStatement) -> dict[str, Any]:
    view.append_prior_statement(arguments.statement)
    return {"added": True}


def _render_context(view: MemoryView, arguments: _Nothing) -> dict[str, Any]:
    return {"layer": view.layer.name, "context": view.render()}


def _freeze(view: MemoryView, arguments: _Nothing) -> dict[str, Any]:
    return {"snapshot_id": view.freeze()}


def _open_snapshot(view: MemoryView, arguments: _OpenSnapshot) -> dict[str, Any]:
    view.open_snapshot(arguments.snapshot_id)
    return {"snapshot_id": arguments.snapshot_id}


def _reset(view: MemoryView, arguments: _Nothing) -> dict[str, Any]:
    return {"removed": view.reset()}


_TOOLS = {
    "append_session": _MemoryTool(
        "Append a session",
        "Render a session's transcript and append it. A session with nothing said or done adds nothing.",
        _AppendSession,
        _append_session,
    ),
    "append_prior_statement": _MemoryTool(
        "Append a prior statement",
        "Append something the user has said before, outside any session.",
        _AppendPriorStatement,
        _append_prior_statement,
        idempotent=False,
    ),
    "render_context": _MemoryTool(
        "Render the context",
        "The memory as text for the agent's prompt, or null when there is none.",
        _Nothing,
        _render_context,
        read_only=True,
    ),
    "freeze": _MemoryTool(
        "Freeze",
        "Make an immutable snapshot of the memory as it is now, and answer its id.",
        _Nothing,
        _freeze,
    ),
    "open_snapshot": _MemoryTool(
        "Open a snapshot",
        "From now on this server shows the snapshot, read-only.",
        _OpenSnapshot,
        _open_snapshot,
    ),
    "reset": _MemoryTool(
        "Reset",
        "Forget all entries, to append them anew. Snapshots stay.",
        _Nothing,
        _reset,
        destructive=True,
    ),
}


def build_memory_server(store: MemoryStore, namespace: str, layer: MemoryLayer = CONTEXT) -> Server:
    """An MCP server on one namespace of `store`; other namespaces are out of its reach.

    A call that cannot be granted is a tool error `{"error": MESSAGE}`. Structured content and text say the
    same JSON. Of an unexpected failure the peer sees `internal error` only.
    """
    view = MemoryView(store, namespace, layer)
    log = structlog.get_logger(server="memory", namespace=namespace)

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[_listed(name, tool) for name, tool in _TOOLS.items()])

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        tool = _TOOLS.get(params.name)
        if tool is None:
            return _result({"error": f"Unknown tool: {params.name}"}, is_error=True)
        try:
            arguments = tool.arguments.model_validate(params.arguments or {}, strict=True)
            return _result(tool.run(view, arguments))
        except ValidationError as error:
            return _result({"error": _problem(error)}, is_error=True)
        except StoreError as error:
            return _result({"error": str(error)}, is_error=True)
        except Exception as error:  # whatever went wrong, its text must not reach the peer
            log.exception("memory tool failed", tool=params.name)
            raise MCPError(_INTERNAL_ERROR, "internal error") from error

    return Server(
        "atr-memory",
        version=version("atrbench"),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _listed(name: str, tool: _MemoryTool) -> Tool:
    return Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(),
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _result(answer: dict[str, Any], *, is_error: bool = False) -> CallToolResult:
    text = json.dumps(answer, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=answer, is_error=is_error
    )


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    got = "" if first["type"] == "missing" else f", got {first['input']!a:.80}"
    return f"argument {place}: {first['msg']}{got}"
