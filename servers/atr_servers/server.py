"""An environment as an MCP server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import structlog
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ToolDescription

from atr_data.episode import PersonaProfile, Reference
from atr_data.release import release
from atr_ontology import Tool, input_schema
from atr_servers.environment import Answer, Environment

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

_written = json.JSONEncoder(ensure_ascii=False).encode

DROPPED_ARGUMENTS = "atr/dropped_arguments"
"""Key in a result's `_meta`: names of arguments that were ignored."""


def build_server(
    domain: str,
    references: Iterable[Reference | Mapping[str, Any]],
    persona: PersonaProfile | None = None,
    allowed_tools: Iterable[str] | None = None,
) -> Server[Any]:
    """A low-level MCP server that owns a new environment, and so the state of one session.

    It offers the domain's tools that are allowed (None: all), `get_user_confirmation` always and first.
    `persona` fills identity arguments that an agent leaves out. Serves both protocol eras.

    Raises ValueError for an unknown domain, an allowed tool that the domain lacks, or a reference whose
    attributes have a wrong type.
    """
    return serve_environment(Environment.build(domain, references, persona, allowed_tools))


def serve_environment(environment: Environment) -> Server[Any]:
    """A low-level MCP server for an environment that the caller keeps at hand."""
    domain = environment.domain
    listing = ListToolsResult(tools=[describe_tool(tool) for tool in environment.tools])

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return listing

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        """Catches everything: in the older era the text of any exception would reach the peer."""
        try:
            return _result(environment.call(params.name, params.arguments))
        except Exception as error:
            structlog.get_logger().error("tool failed", tool=params.name, exc_info=True)
            raise MCPError(INTERNAL_ERROR, "internal error") from error

    return Server(
        f"atr-{domain.name}",
        version=release(),
        instructions=domain.policy,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


@cache
def describe_tool(tool: Tool) -> ToolDescription:
    """A tool of the ontology as `tools/list` shows it."""
    read = tool.kind == "read"
    return ToolDescription(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool),
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=read,
            destructive_hint=tool.destructive,
            idempotent_hint=read or tool.idempotent,
            open_world_hint=False,
        ),
    )


def _result(answer: Answer) -> CallToolResult:
    """Text and structured content are one JSON document: some clients show a model only one of them."""
    text = _written(answer.content)
    meta = {DROPPED_ARGUMENTS: list(answer.dropped_arguments)} if answer.dropped_arguments else None
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=msgspec.json.decode(text),
        is_error=answer.is_error,
        _meta=meta,
    )
