"""MCP servers made of a table of tools: arguments are checked once, and failures stay inside."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
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
from pydantic import BaseModel, ConfigDict, ValidationError

from atr_data.release import release

_INTERNAL_ERROR = -32603


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Refusal(Exception):
    """A call that cannot be granted; says in one line why."""


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """`run` takes what the tools work on, and the checked arguments."""

    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Any, Any], dict[str, Any] | Awaitable[dict[str, Any]]]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = True


def build_tool_server(
    name: str,
    instructions: str,
    tools: Mapping[str, MemoryTool],
    subject: Any,
    *,
    refusals: tuple[type[Exception], ...] = (Refusal,),
    **logged: str,
) -> Server:
    """A server whose tools work on `subject`. A call that cannot be granted, by one of `refusals` or by its
    arguments, is a tool error `{"error": MESSAGE}`. Structured content and text say the same JSON. Of an
    unexpected failure the peer sees `internal error` only."""
    log = structlog.get_logger(server="memory", **logged)

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=listed_tools(tools))

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            return _result({"error": f"Unknown tool: {params.name}"}, is_error=True)
        try:
            arguments = tool.arguments.model_validate(params.arguments or {}, strict=True)
            answer = tool.run(subject, arguments)
            return _result(await answer if inspect.isawaitable(answer) else answer)
        except ValidationError as error:
            return _result({"error": _problem(error)}, is_error=True)
        except refusals as error:
            return _result({"error": str(error)}, is_error=True)
        except Exception as error:  # whatever went wrong, its text must not reach the peer
            log.exception("memory tool failed", tool=params.name)
            raise MCPError(_INTERNAL_ERROR, "internal error") from error

    return Server(
        name,
        version=release(),
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def listed_tools(tools: Mapping[str, MemoryTool]) -> list[Tool]:
    """The tools as a server lists them."""
    return [_listed(name, tool) for name, tool in tools.items()]


@lru_cache(maxsize=64)
def _listed(name: str, tool: MemoryTool) -> Tool:
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
