"""The gateway as an MCP server: a seat, reached through tools."""

from __future__ import annotations

from typing import Any

import structlog
from mcp import MCPError
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptMessage,
    TextContent,
    Tool,
)

from atr_client.gateway.control_tools import every_tool, offered_tools
from atr_client.gateway.elicitation import call_with_person
from atr_client.gateway.paged_memory import longest_for
from atr_client.gateway.served_place import Place
from atr_data.release import release

PROMPT = "episode"
NEVER_LIST_AGAIN = ("codex", "cursor")
"""Beginnings of names of clients that read the list of tools once. Of Cursor its users report it."""

FIRST_MODERN_ERA = "2026"


def build_gateway_server(seat: Place, *, all_tools: bool | None = None) -> Server[Any]:
    """A low-level MCP server for one place. Serves both protocol eras.

    It lists its own tools and those of the running session, and tells when the list changes. `all_tools`
    lists those of every session from the start; None does so for clients that are known not to look again. A
    tool outside the session answers with an error in any case.
    """
    bus = InMemorySubscriptionBus()

    def tools(context: ServerRequestContext[Any]) -> list[Tool]:
        everything = _never_lists_again(context) if all_tools is None else all_tools
        own = seat.control_tools(everything=everything)
        return own + (
            every_tool(seat.memory_tools) if everything else offered_tools(seat.tool_names, seat.memory_tools)
        )

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        _note_client(seat, context)
        return ListToolsResult(tools=tools(context))

    async def call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Catches everything: in the older era the text of any exception would reach the peer."""
        _note_client(seat, context)
        before = seat.tool_names
        try:
            longest = longest_for(_client_name(context)[0])
            if (person := seat.person) is not None:
                modern = _era(context) == "modern"
                told = await call_with_person(context, params, seat, person, longest, modern=modern)
            else:
                told = await seat.call(params.name, params.arguments or {}, longest)
        except Exception as error:
            structlog.get_logger().error("gateway failed", tool=params.name, exc_info=True)
            raise MCPError(INTERNAL_ERROR, "internal error") from error
        if isinstance(told, InputRequiredResult):
            return told
        if seat.tool_names != before:
            await _tell_of_tools(context, bus)
        return CallToolResult(
            content=[TextContent(type="text", text=text) for text in told.texts], is_error=told.is_error
        )

    async def list_prompts(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return ListPromptsResult(prompts=[Prompt(name=PROMPT, title="Play", description="What to do here.")])

    async def get_prompt(
        context: ServerRequestContext[Any], params: GetPromptRequestParams
    ) -> GetPromptResult:
        if params.name != PROMPT:
            raise MCPError(INVALID_PARAMS, f"no such prompt; there is one, {PROMPT}")
        content = TextContent(type="text", text=seat.instructions)
        return GetPromptResult(messages=[PromptMessage(role="user", content=content)])

    return _ChangingServer(
        "atr-gateway",
        version=release(),
        instructions=seat.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_subscriptions_listen=ListenHandler(bus),
    )


class _ChangingServer(Server[Any]):
    """Declares in the older era too that its list of tools changes."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **kwargs: Any
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, *args, **kwargs)


async def _tell_of_tools(context: ServerRequestContext[Any], bus: InMemorySubscriptionBus) -> None:
    if _era(context) == "modern":
        await bus.publish(ToolsListChanged())
    else:
        await context.session.send_tool_list_changed()


def _client_name(context: ServerRequestContext[Any]) -> tuple[str, str]:
    params = context.session.client_params
    info = params.client_info if params else None
    return (info.name, info.version) if info else ("", "")


def _never_lists_again(context: ServerRequestContext[Any]) -> bool:
    return _client_name(context)[0].lower().startswith(NEVER_LIST_AGAIN)


def _era(context: ServerRequestContext[Any]) -> str:
    return "modern" if context.protocol_version >= FIRST_MODERN_ERA else "handshake"


def _note_client(seat: Place, context: ServerRequestContext[Any]) -> None:
    name, its_version = _client_name(context)
    seat.note(
        {
            "name": name[:200],
            "version": its_version[:200],
            "protocol": context.protocol_version,
            "era": _era(context),
        }
    )
