"""What was called in an environment and what it answered, for whoever grades it afterwards."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any, cast

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import CallToolResult, TextContent

from atr_data.limits import check_arguments

_KEPT = 10_000


class CallHistory:
    """The calls of one environment, in the order in which they were answered.

    Of more than `keep` the oldest go. `record` is middleware for the environment's server.
    """

    def __init__(self, keep: int = _KEPT) -> None:
        self._calls: deque[dict[str, Any]] = deque(maxlen=keep)
        self._number = 0

    def document(self) -> dict[str, Any]:
        """`{"calls": [...], "dropped": n}`.

        A call has `number` from 1, and `tool`, `arguments`, `result` (text), `is_error` and `seconds` as in a
        line of `calls.jsonl`. Arguments that no wire can carry are null; the result says why.
        """
        return {"calls": list(self._calls), "dropped": self._number - len(self._calls)}

    async def record(self, ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call":
            return await call_next(ctx)
        started = time.perf_counter()
        try:
            result = await call_next(ctx)
        except MCPError as error:
            self._add(ctx.params, str(error), is_error=True, started=started)
            raise
        text, is_error = _answer(result)
        self._add(ctx.params, text, is_error=is_error, started=started)
        return result

    def _add(self, params: Mapping[str, Any] | None, result: str, *, is_error: bool, started: float) -> None:
        self._number += 1
        sent = params or {}
        arguments: object = sent.get("arguments") or {}
        self._calls.append(
            {
                "number": self._number,
                "tool": str(sent.get("name")).encode(errors="backslashreplace").decode(),
                "arguments": None if check_arguments(arguments) else arguments,
                "result": result,
                "is_error": is_error,
                "seconds": round(time.perf_counter() - started, 6),
            }
        )


def _answer(result: HandlerResult) -> tuple[str, bool]:
    """The text of a tool's answer, and whether it is an error."""
    answer = (
        CallToolResult.model_validate(result) if isinstance(result, dict) else cast(CallToolResult, result)
    )
    text = "\n".join(block.text for block in answer.content if isinstance(block, TextContent))
    return text, bool(answer.is_error)
