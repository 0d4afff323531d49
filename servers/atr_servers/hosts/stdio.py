"""One environment over standard input and output."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

import anyio
import structlog
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, RequestId
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.server import Server
from atr_servers.hosts.odd_ids import refused_id


async def serve_stdio(server: Server[Any]) -> None:
    """Serves until standard input ends. Standard output carries the protocol alone.

    A line that is no message is answered with a parse error under its own request id, where that can be
    told. The SDK drops such a line (a lone surrogate, arguments nested deeper than 200, broken JSON), and
    its sender would wait for an answer until it gives up. Under id null goes the answer to what Python's
    `json` cannot read either: broken JSON, about 1000 levels, numbers of more than 4300 digits.
    """
    try:
        lines = _Lines()
        stdin = cast("anyio.AsyncFile[str]", lines)
        async with stdio_server(stdin) as (received, sent), anyio.create_task_group() as tasks:
            lines.answer = sent.send
            readable, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)

            async def answer_unreadable() -> None:
                async with readable:
                    async for item in received:
                        if isinstance(item, ValidationError):
                            await sent.send(_parse_error(item))
                        else:
                            await readable.send(item)

            tasks.start_soon(answer_unreadable)
            await server.run(messages, sent, server.create_initialization_options())
            tasks.cancel_scope.cancel()
    except* BrokenPipeError:
        structlog.get_logger().warning("the client closed its end before the answer")


class _Lines:
    """Standard input line by line, without the requests under an odd id, which are answered here."""

    def __init__(self) -> None:
        self._file = anyio.wrap_file(
            io.TextIOWrapper(os.fdopen(os.dup(sys.stdin.fileno()), "rb"), encoding="utf-8", errors="replace")
        )
        self.answer: Callable[[SessionMessage], Awaitable[None]] | None = None

    async def __aiter__(self) -> AsyncGenerator[str]:
        async for line in self._file:
            refusal = refused_id(line.encode("utf-8", "replace"))
            if refusal is None or self.answer is None:
                yield line
            else:
                await self.answer(SessionMessage(_AnyId.model_validate(refusal)))


class _AnyId(JSONRPCError):
    """An error under an id that the protocol does not allow, as it came."""

    id: Any = None


def _parse_error(error: ValidationError) -> SessionMessage:
    problem = error.errors(include_url=False)
    found = (_request_id(p["input"]) for p in problem)
    message = f"Parse error: {problem[0]['msg']}"
    return SessionMessage(
        JSONRPCError(
            jsonrpc="2.0",
            id=next((i for i in found if i is not None), None),
            error=ErrorData(code=PARSE_ERROR, message=message),
        )
    )


def _request_id(raw: object) -> RequestId | None:
    """The id of a message that the SDK could not read. `json` reads more than the SDK does."""
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            return None
    if not isinstance(raw, dict):
        return None
    match cast(dict[str, Any], raw).get("id"):
        case bool():
            return None
        case int(number):
            return number
        case str(text) if text.isascii():
            return text
        case _:
            return None
