"""What every provider's client needs around HTTP: addresses, keys and bodies."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from atr_client.errors import ModelError
from atr_client.models.addresses import shown_address
from atr_client.models.wire import Endpoint


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
