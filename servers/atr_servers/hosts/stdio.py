"""One environment over standard input and output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import anyio
import structlog
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, RequestId
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.server import Server


async def serve_stdio(server: Server[Any]) -> None:
    """Serves until standard input ends. Standard output carries the protocol alone.

    A line that is no message is answered with a parse error under its own request id, where that can be
    told. The SDK drops such a line (a lone surrogate, arguments nested deeper than 200, broken JSON), and
    its sender would wait for an answer until it gives up. Under id null goes the answer to what Python's
    `json` cannot read either: broken JSON, about 1000 levels, numbers of more than 4300 digits.
    """
    try:
        async with stdio_server() as (received, sent), anyio.create_task_group() as tasks:
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
