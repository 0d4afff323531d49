"""The workstream as an MCP server: one sitting of the timing track, event by event."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import structlog
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from mcp.types import Tool as ToolDescription

from atr_data.release import release
from atr_data.timing.events import Stream
from atr_data.timing.priors import Priors
from atr_servers.timing.sitting import MemoryMode, Observation
from atr_servers.timing.tools import DEFAULT_WINDOW, INSTRUCTIONS, Tool, Workstream, intents

_JSON = "application/json"


def build_workstream_server(
    stream: Stream,
    sitting_id: str,
    *,
    memory: MemoryMode = "off",
    history_window_s: int = DEFAULT_WINDOW,
    priors: Priors | None = None,
    observation: Observation = "text",
) -> Server[Any]:
    """A low-level MCP server that plays one sitting of a stream. Raises as `Workstream` does."""
    return serve_workstream(
        Workstream(
            stream,
            sitting_id,
            memory=memory,
            history_window_s=history_window_s,
            priors=priors,
            observation=observation,
        )
    )


def serve_workstream(workstream: Workstream, *, after_call: Callable[[], None] | None = None) -> Server[Any]:
    """A low-level MCP server for a sitting that the caller keeps at hand, to read its log."""

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(
            tools=[describe_workstream_tool(name, tool) for name, tool in workstream.tools.items()]
        )

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        """Catches everything: in the older era the text of any exception would reach the peer."""
        try:
            result = _result(*workstream.call(params.name, params.arguments))
            if after_call:
                after_call()
            return result
        except Exception as error:
            structlog.get_logger().error("tool failed", tool=params.name, exc_info=True)
            raise MCPError(INTERNAL_ERROR, "internal error") from error

    async def list_resources(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return ListResourcesResult(
            resources=[
                Resource(name=uri.rpartition("/")[2], uri=uri, mime_type=_JSON)
                for uri in _resources(workstream)
            ]
        )

    async def read_resource(
        context: ServerRequestContext[Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        content = _resources(workstream).get(uri)
        if content is None:
            raise MCPError(INVALID_PARAMS, "no such resource")
        text = json.dumps(content, ensure_ascii=False)
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=_JSON, text=text)])

    return Server(
        "atr-workstream",
        version=release(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def _resources(workstream: Workstream) -> dict[str, dict[str, Any]]:
    state = workstream.state
    found: dict[str, dict[str, Any]] = {
        "workstream://sitting": {
            "sitting_id": state.sitting.sitting_id,
            "memory": workstream.memory,
            "history_window_s": workstream.window,
            "decisions_left": state.left,
        },
        "workstream://intents": {"intents": intents()},
    }
    if workstream.memory != "off":
        found["workstream://profile"] = {"role": state.stream.header.role}
    return found


def describe_workstream_tool(name: str, tool: Tool) -> ToolDescription:
    """As `tools/list` has it."""
    return ToolDescription(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(),
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=False,
            idempotent_hint=tool.read_only,
            open_world_hint=False,
        ),
    )


def _result(answer: dict[str, Any], is_error: bool) -> CallToolResult:
    """Text and structured content are one JSON document: some clients show a model only one of them."""
    text = json.dumps(answer, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=json.loads(text),
        is_error=is_error,
    )
