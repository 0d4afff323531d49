"""Connections to MCP servers. Whatever the transport, callers hold the same client."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

from mcp import Client, StdioServerParameters, stdio_client
from mcp.client import Transport
from mcp.server import Server
from mcp.types import LATEST_PROTOCOL_VERSION, CallToolRequest, CallToolRequestParams, CallToolResult

CALL_TIMEOUT = 60.0
"""Seconds that one call to a tool server may take."""

Target = Server[Any] | StdioServerParameters | Transport | str
"""A server object (in process), a command line (stdio), a transport, or the URL of an HTTP server."""


@asynccontextmanager
async def connect(target: Target) -> AsyncGenerator[Client]:
    """An initialised client. What is raised inside comes out as it was raised: the SDK's task group would
    wrap it otherwise. A server in this process need not be asked which era it speaks."""
    transport = stdio_client(target) if isinstance(target, StdioServerParameters) else target
    mode = LATEST_PROTOCOL_VERSION if isinstance(target, Server) else "auto"
    try:
        async with Client(transport, read_timeout_seconds=CALL_TIMEOUT, mode=mode) as client:
            yield client
    except BaseExceptionGroup as group:
        raise _only(group) from group


async def call_in_process(client: Client, name: str, arguments: dict[str, Any]) -> CallToolResult:
    """A `tools/call` to a server of ours in this process. `Client.call_tool` would list the tools first, to
    hold the answer against output schemas, of which our servers have none."""
    params = CallToolRequestParams(name=name, arguments=arguments)
    return await client.session.send_request(CallToolRequest(params=params), CallToolResult)


def _only(error: BaseException) -> BaseException:
    """The one error that nested groups of one wrap, or the group that holds several."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    inner = cast(BaseExceptionGroup[BaseException], error).exceptions
    return _only(inner[0]) if len(inner) == 1 else cast(BaseException, error)
