"""Faults as a provider tells them: in the status of an answer, in its body, or within a reply."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

from atr_client.errors import ContextOverflow, WireError
from atr_client.models.wire import FINAL_STATUS, RETRYABLE_STATUS, Endpoint

_REASON_LENGTH = 500
_SHORTEST_KEY = 8
"""A shorter text is a placeholder for a server that asks for no key; ordinary words may contain it."""

_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|exceed\w* (\w+ ){0,3}context|context \w+ exceed"
    r"|prompt is too long|input is too long|range of input length|token count .*exceeds",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"insufficient[_ ](user[_ ])?(quota|balance|credit|fund)|billing_(hard_limit|not_active)"
    r"|credit balance is too low|payment required|account_deactivated|access_terminated|arrearage",
    re.IGNORECASE,
)
"""Money is spent or the account is closed, under whatever status: a rate limit (429) may say so too."""

_STATUS_OF: Mapping[str, int] = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "INVALID_ARGUMENT": 400,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "UNAUTHENTICATED": 401,
    "insufficient_quota": 402,
    "billing_error": 402,
    "permission_error": 403,
    "PERMISSION_DENIED": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "NOT_FOUND": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "RESOURCE_EXHAUSTED": 429,
    "api_error": 500,
    "server_error": 500,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "vector_store_timeout": 504,
    "DEADLINE_EXCEEDED": 504,
    "overloaded_error": 529,
}
"""The HTTP status that each provider's own word for a fault stands for."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait: `retry-after-ms`, or Retry-After in seconds or as a date. None
    when it asks for nothing that can be read."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / scale
        except ValueError:
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        asked = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(asked.timestamp() - time.time(), 0.0)


def fault(
    reason: str,
    endpoint: Endpoint,
    *,
    status: int | None = None,
    codes: Iterable[object] = (),
    headers: Mapping[str, str] | None = None,
    retryable: bool | None = None,
) -> WireError | ContextOverflow:
    """The exception for a failed call: ContextOverflow when the provider says that the conversation is too
    long, else WireError. `status` None: no answer came, or none that can be used; such a call may be tried
    again unless `retryable` says otherwise. `codes` are the provider's words for the fault, where the reason
    does not hold them. The text is one line and holds no key."""
    if len(endpoint.api_key) >= _SHORTEST_KEY:
        reason = reason.replace(endpoint.api_key, "[key]")
    text = " ".join(reason.split())[:_REASON_LENGTH]
    refused = status is None or 400 <= status < 500
    if refused and status != 429 and _OVERFLOW.search(text):
        return ContextOverflow(text)
    final = status in FINAL_STATUS or (
        refused and _FINAL.search(" ".join([*map(str, codes), text])) is not None
    )
    if retryable is None:
        retryable = status is None or status in RETRYABLE_STATUS
    return WireError(
        text,
        retryable=retryable and not final,
        final=final,
        status=status,
        retry_after=retry_after(headers or {}),
    )


def told_in_reply(
    error: object, endpoint: Endpoint, *, prefix: str = "", retryable: bool = True
) -> WireError | ContextOverflow:
    """The exception for a fault that stands in the body of an answer with status 200. What its code says goes
    as if it were the status; `retryable` says what becomes of a code that is not known."""
    fields = cast("dict[str, Any]", error) if isinstance(error, dict) else {"message": error}
    codes = codes_in(fields)
    words = [code for code in codes if isinstance(code, str) and not code.isdecimal()]
    status = next((number for code in codes if (number := _status(code)) is not None), None)
    reason = " ".join(str(part) for part in (fields.get("message"), *words[:1]) if part)
    return fault(
        f"{prefix}{reason or error or 'no reason given'}",
        endpoint,
        status=status,
        codes=words,
        retryable=None if status else retryable,
    )


def codes_in(body: object) -> list[object]:
    """The provider's words and numbers for a fault, from an error or the body around it."""
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    if isinstance(inner := fields.get("error"), dict):
        fields = cast("dict[str, Any]", inner)
    return [fields[key] for key in ("code", "type", "status") if fields.get(key) not in (None, "")]


def _status(code: object) -> int | None:
    if isinstance(code, str) and code.isdecimal():
        code = int(code[:4])
    if isinstance(code, int):
        return code if 400 <= code < 600 else None
    return _STATUS_OF.get(code) if isinstance(code, str) else None
