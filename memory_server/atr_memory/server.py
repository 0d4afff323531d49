"""The memory as an MCP server: the tools through which a harness keeps an agent's memory."""

from __future__ import annotations

from typing import Any

from mcp.server import Server
from pydantic import Field

from atr_data.trajectory import Message
from atr_memory.layer import FinishedSession, MemoryFault, MemoryLayer
from atr_memory.layers.whole_text import CONTEXT
from atr_memory.store import MemoryStore, StoreError
from atr_memory.tool_server import Arguments, MemoryTool, build_tool_server
from atr_memory.view import MemoryView

_INSTRUCTIONS = """\
The memory of one agent over its sessions. Append each session as it ends, freeze once, and open the snapshot
wherever the memory is to be read but not changed."""


class _AppendSession(Arguments):
    session_id: str = Field(min_length=1, description="Id of the session; appending it twice adds nothing.")
    messages: list[Message] = Field(description="The session's messages, as in its trajectory.")


class _AppendPriorStatement(Arguments):
    statement: str = Field(description="What the user said, verbatim.")


class _RenderContext(Arguments):
    query: str = Field(default="", description="What the session is about; some layers choose by it.")


class _OpenSnapshot(Arguments):
    snapshot_id: str = Field(description="What `freeze` answered.")


class _Nothing(Arguments):
    pass


async def _append_session(view: MemoryView, arguments: _AppendSession) -> dict[str, Any]:
    session = FinishedSession(arguments.session_id, arguments.messages)
    return {"added": await view.append_session(session)}


def _append_prior_statement(view: MemoryView, arguments: _AppendPriorStatement) -> dict[str, Any]:
    view.append_prior_statement(arguments.statement)
    return {"added": True}


def _render_context(view: MemoryView, arguments: _RenderContext) -> dict[str, Any]:
    return {"layer": view.layer.name, "context": view.render(arguments.query)}


async def _freeze(view: MemoryView, arguments: _Nothing) -> dict[str, Any]:
    return {"snapshot_id": await view.freeze()}


def _open_snapshot(view: MemoryView, arguments: _OpenSnapshot) -> dict[str, Any]:
    view.open_snapshot(arguments.snapshot_id)
    return {"snapshot_id": arguments.snapshot_id}


def _reset(view: MemoryView, arguments: _Nothing) -> dict[str, Any]:
    return {"removed": view.reset()}


_TOOLS = {
    "append_session": MemoryTool(
        "Append a session",
        "Append what the layer keeps of a session. A session with nothing said or done adds nothing.",
        _AppendSession,
        _append_session,
    ),
    "append_prior_statement": MemoryTool(
        "Append a prior statement",
        "Append something the user has said before, outside any session.",
        _AppendPriorStatement,
        _append_prior_statement,
        idempotent=False,
    ),
    "render_context": MemoryTool(
        "Render the context",
        "The memory as text for the agent's prompt, or null when there is none.",
        _RenderContext,
        _render_context,
        read_only=True,
    ),
    "freeze": MemoryTool(
        "Freeze",
        "Make an immutable snapshot of the memory as it is now, and answer its id.",
        _Nothing,
        _freeze,
    ),
    "open_snapshot": MemoryTool(
        "Open a snapshot",
        "From now on this server shows the snapshot, read-only.",
        _OpenSnapshot,
        _open_snapshot,
    ),
    "reset": MemoryTool(
        "Reset",
        "Forget all entries, to append them anew. Snapshots stay.",
        _Nothing,
        _reset,
        destructive=True,
    ),
}


def build_memory_server(store: MemoryStore, namespace: str, layer: MemoryLayer = CONTEXT) -> Server:
    """An MCP server on one namespace of `store`; other namespaces are out of its reach."""
    return build_view_server(MemoryView(store, namespace, layer))


def build_view_server(view: MemoryView) -> Server:
    """As `build_memory_server`, for who needs the view as well."""
    return build_tool_server(
        "atr-memory",
        _INSTRUCTIONS,
        _TOOLS,
        view,
        refusals=(StoreError, MemoryFault),
        namespace=view.namespace,
    )
