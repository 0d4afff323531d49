"""Requests whose id is neither an integer nor text. The SDK takes them for notifications and answers nothing,
so their sender would wait until it gives up."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from mcp.types import INVALID_REQUEST

_LOOKS_ODD = re.compile(rb'"id"\s*:\s*(?!["\s]|-?\d+\s*[,}])')


def refused_id(message: bytes) -> dict[str, Any] | None:
    """The answer to such a request, None for any other message. A fractional id comes back as it was; what
    can be no id at all comes back as null."""
    if not _LOOKS_ODD.search(message):
        return None
    try:
        raw = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict) or "method" not in raw or "id" not in raw:
        return None
    request_id = cast("dict[str, Any]", raw)["id"]
    if isinstance(request_id, str) or (isinstance(request_id, int) and not isinstance(request_id, bool)):
        return None
    fractional = isinstance(request_id, float) and request_id - request_id == 0
    return {
        "jsonrpc": "2.0",
        "id": request_id if fractional else None,
        "error": {"code": INVALID_REQUEST, "message": "Invalid request: an id is an integer or text"},
    }
