"""Tools of a memory, reached over MCP by the session that they are offered to."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client import Transport
from mcp.server import MCPServer, Server
from mcp.types import TextContent, Tool

from atr_memory.layer import Answer, MemoryFault

CONNECTION_ERRORS = (
    MCPError,
    OSError,
    httpx2.HTTPError,
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
    anyio.EndOfStream,
)
MOST_PAGES = 100

Target = Server[Any] | MCPServer[Any] | Transport | str
"""A server in this process, a connection, or the URL of a server."""


@dataclass(slots=True)
class ServedTools:
    """One connection for one session. Calls are made one after the other: some servers lose writes that come
    at once. `count_writes` tells how much was written, `last_words` what the server said as it died, and
    `broken` what is wrong with an answer that looks like one."""

    client: Client
    tools: Sequence[Tool]
    folder: Path | None = None
    count_writes: Callable[[], int] = lambda: 0
    last_words: Callable[[], str] = lambda: ""
    broken: Callable[[str, Answer], str | None] = lambda name, answer: None
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _one_at_a_time: anyio.Lock = field(default_factory=anyio.Lock)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Raises MemoryFault when the server does not answer, or has broken down."""
        async with self._one_at_a_time:
            try:
                result = await self.client.call_tool(name, dict(arguments))
            except CONNECTION_ERRORS as error:
                raise MemoryFault(f"{name}: {told(error, self.last_words())}") from error
        text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
        answer = Answer(text, bool(result.is_error))
        if problem := self.broken(name, answer):
            raise MemoryFault(f"{name}: {told(problem, self.last_words())}")
        return answer

    async def close(self) -> None:
        await _closed(self._stack)

    async def writes(self) -> int:
        return self.count_writes()


@asynccontextmanager
async def served(
    target: Target,
    *,
    patience: float = 30.0,
    last_words: Callable[[], str] = lambda: "",
    **options: Any,
) -> AsyncGenerator[ServedTools]:
    """The tools of a server, all pages of them; `patience` in seconds holds for the start and for each call.

    Raises MemoryFault when the server does not start, or its tools cannot be listed.
    """
    stack = AsyncExitStack()
    try:
        client = await _connected(stack, target, patience)
        tools = await list_all(client)
    except CONNECTION_ERRORS as error:
        await _closed(stack)
        raise MemoryFault(f"the memory server: {told(error, last_words())}") from error
    except BaseException:
        await _closed(stack)
        raise
    offer = ServedTools(client, tools, last_words=last_words, _stack=stack, **options)
    try:
        yield offer
    finally:
        await offer.close()


async def _connected(stack: AsyncExitStack, target: Target, patience: float) -> Client:
    """What is raised comes out as it was raised: the SDK's task groups would wrap it."""
    try:
        return await stack.enter_async_context(Client(target, read_timeout_seconds=patience))
    except BaseExceptionGroup as group:
        raise only_error(group) from group


async def _closed(stack: AsyncExitStack) -> None:
    """A connection that broke may break again as it is closed; the first error is the one that counts.

    The stack is told what is on its way: an `aclose` at that time makes a cancellation its own context, and
    contextlib follows the circle for ever.
    """
    with suppress(*CONNECTION_ERRORS, BaseExceptionGroup):
        await stack.__aexit__(*sys.exc_info())


def only_error(error: BaseException) -> BaseException:
    """The one error that nested groups of one wrap, or the group that holds several."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    inner = cast(BaseExceptionGroup[BaseException], error).exceptions
    return only_error(inner[0]) if len(inner) == 1 else cast(BaseException, error)


async def list_all(client: Client) -> list[Tool]:
    """The tools of a server, page by page. Raises MemoryFault when there is no end of pages."""
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        if (cursor := page.next_cursor) is None:
            return tools
    raise MemoryFault(f"the memory server's list of tools has more than {MOST_PAGES} pages")


def told(error: object, last_words: str = "") -> str:
    """An error in one line, with what the server said last."""
    text = " ".join(str(error).split()) or type(error).__name__
    said = re.sub(r"\s+", " ", last_words).strip()
    return f"{text}; it said: {said}" if said else text
