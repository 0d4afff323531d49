"""What every provider's client needs around HTTP: addresses, waits that were asked for, faults as told."""

from __future__ import annotations

import ipaddress
import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast
from urllib.parse import urlsplit

from atr_client.errors import ContextOverflow, ModelError, WireError
from atr_client.models.addresses import shown_address
from atr_client.models.wire import RETRYABLE_STATUS, Endpoint

_REASON_LENGTH = 500
_SHORTEST_KEY = 8
"""A shorter text is a placeholder for a server that asks for no key; ordinary words may contain it."""

_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|exceed\w* (\w+ ){0,3}context|context \w+ exceed"
    r"|prompt is too long|input is too long|range of input length|token count .*exceeds",
    re.IGNORECASE,
)


def check_endpoint(endpoint: Endpoint) -> None:
    """Raises ModelError for an address or a key that no HTTP client can use, before anything is sent."""
    if not (endpoint.api_key and endpoint.api_key.isascii() and endpoint.api_key.isprintable()):
        raise ModelError(
            f"model {endpoint.model}: the API key is empty or holds characters that no HTTP header can carry"
        )
    if endpoint.base_url is None:
        return
    try:
        parts = urlsplit(endpoint.base_url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ModelError(
            f"model {endpoint.model}: base_url must look like https://host/v1, got "
            f"{shown_address(endpoint.base_url)!r}"
        )


def is_loopback(base_url: str | None) -> bool:
    """Whether the address is this machine's own: no proxy of the environment may take a request to it."""
    host = urlsplit(base_url or "").hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
    headers: Mapping[str, str] | None = None,
    retryable: bool | None = None,
) -> WireError | ContextOverflow:
    """The exception for a failed call: ContextOverflow when the provider says that the conversation is too
    long, else WireError. `status` None: no answer came, or none that can be used; such a call may be tried
    again unless `retryable` says otherwise. The text is one line and holds no key."""
    if len(endpoint.api_key) >= _SHORTEST_KEY:
        reason = reason.replace(endpoint.api_key, "[key]")
    text = " ".join(reason.split())[:_REASON_LENGTH]
    refused = status is None or (400 <= status < 500 and status != 429)
    if refused and _OVERFLOW.search(text):
        return ContextOverflow(text)
    if retryable is None:
        retryable = status is None or status in RETRYABLE_STATUS
    return WireError(text, retryable=retryable, status=status, retry_after=retry_after(headers or {}))


def request_body(defaults: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A request's fields without those that are None, and with the endpoint's parameters over them; objects
    are merged field by field."""
    body = {key: value for key, value in defaults.items() if value is not None}
    for key, value in parameters.items():
        base = body.get(key)
        if isinstance(base, dict) and isinstance(value, Mapping):
            body[key] = request_body(cast("dict[str, Any]", base), cast("Mapping[str, Any]", value))
        else:
            body[key] = value
    return body
