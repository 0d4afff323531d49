"""What an HTTP host demands of a request before it looks at it: a known name, and a body that comes."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from atr_data.limits import MAX_BYTES
from atr_servers.hosts.odd_ids import refused_id

_PORT = re.compile(r":\d{1,5}")


class KnownSites:
    """Refuses a foreign Host (421) or Origin (403), so that no web page can reach a server on loopback."""

    def __init__(self, app: ASGIApp, names: Sequence[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(Request(scope))):
            reason, status = refusal
            await JSONResponse({"error": reason}, status)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, request: Request) -> tuple[str, int] | None:
        hosts, origins = request.headers.getlist("host"), request.headers.getlist("origin")
        if len(hosts) != 1 or not self._is_known(hosts[0]):
            return "Invalid Host header", 421
        for origin in origins:
            scheme, _, host = origin.partition("://")
            if scheme not in ("http", "https") or not self._is_known(host):
                return "Invalid Origin header", 403
        return None

    def _is_known(self, host: str) -> bool:
        """A name alone, or with a port behind it and nothing else: `localhost:80.evil.com` is no port."""
        host = host.lower()
        if host in self._names:
            return True
        return any(host.startswith(name) and _PORT.fullmatch(host[len(name) :]) for name in self._names)


class WholeBodies:
    """Takes a request's body in before it is handled: one that stops coming ends the request (408), one too
    large is refused (413), and a request under an odd id is answered with an error (400)."""

    def __init__(self, app: ASGIApp, seconds: float, limit: int = 4 * MAX_BYTES) -> None:
        self._app = app
        self._seconds = seconds
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = bytearray()
        deadline = time.monotonic() + self._seconds
        more = True
        while more:
            with anyio.move_on_after(deadline - time.monotonic()) as waiting:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                body += message.get("body", b"")
                more = message.get("more_body", False)
            if waiting.cancelled_caught:
                await _refuse("the request's body did not come in time", 408)(scope, receive, send)
                return
            if len(body) > self._limit:
                await _refuse(f"the request body is larger than {self._limit} bytes", 413)(
                    scope, receive, send
                )
                return
        if answer := refused_id(bytes(body)):
            await JSONResponse(answer, 400)(scope, receive, send)
            return
        await self._app(scope, _replayed(bytes(body), receive), send)


def _refuse(reason: str, status: int) -> JSONResponse:
    return JSONResponse({"error": reason}, status, {"Connection": "close"})


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body first, then whatever comes: that the client has gone."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
