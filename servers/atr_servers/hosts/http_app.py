"""The HTTP application: administration, environments, and who may reach them."""

from __future__ import annotations

import ipaddress
import json
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from atr_data.limits import MAX_BYTES, check_arguments
from atr_data.load import describe
from atr_servers.environment import Environment
from atr_servers.hosts.environment_host import Host, HostFull
from atr_servers.hosts.environment_spec import EnvironmentSpec
from atr_servers.hosts.requests import KnownSites, WholeBodies

BODY_SECONDS = 30.0
"""How long a request's body may take to come."""


_NO_ENVIRONMENT = "no such environment; it may have been closed"
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(host: str) -> bool:
    """Whether an address to bind to is reachable from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def create_app(
    host: Host,
    *,
    admin_token: str,
    environment_token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    body_seconds: float = BODY_SECONDS,
) -> Starlette:
    """`POST /admin/env`, `DELETE /admin/env/<id>`, `GET /admin/env/<id>/state` and `/calls`, `/env/<id>/mcp`
    and `GET /health`.

    The tokens are bearer tokens, one for `/admin`, one for `/env`; neither opens the other's door. Without
    `environment_token` an environment's address is its only secret: fit for loopback alone. Requests whose
    Host is neither a loopback name nor in `allowed_hosts` (names without a port) are refused, and those whose
    Origin is another site; so are those whose body takes longer than `body_seconds`. A refusal of the
    application is `{"error": message}`.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with host.running():
            yield

    async def open_environment(request: Request) -> Response:
        environment = _environment(await read_body(request))
        try:
            env_id = await host.open(environment)
        except HostFull as error:
            raise HTTPException(503, str(error)) from error
        expires_at = datetime.now(UTC) + timedelta(seconds=host.ttl)
        url = environment_url(str(request.base_url), env_id)
        body = {"id": env_id, "url": url, "expires_at": expires_at.isoformat(timespec="seconds")}
        return JSONResponse(body, status_code=201)

    def shown(told: Callable[[str], dict[str, Any] | None]) -> Callable[[Request], Awaitable[Response]]:
        async def show(request: Request) -> Response:
            document = told(request.path_params["env_id"])
            if document is None:
                raise HTTPException(404, _NO_ENVIRONMENT)
            return JSONResponse(document)

        return show

    async def close_environment(request: Request) -> Response:
        if not await host.close(request.path_params["env_id"]):
            raise HTTPException(404, _NO_ENVIRONMENT)
        return Response(status_code=204)

    admin = [
        Route("/env", open_environment, methods=["POST"]),
        Route("/env/{env_id}", close_environment, methods=["DELETE"]),
        Route("/env/{env_id}/state", shown(host.state), methods=["GET"]),
        Route("/env/{env_id}/calls", shown(host.calls), methods=["GET"]),
    ]
    bearer = [Middleware(Bearer, token=environment_token)] if environment_token else []
    return Starlette(
        routes=[
            Route("/health", health, methods=["GET"]),
            Mount("/admin", routes=admin, middleware=[Middleware(Bearer, token=admin_token)]),
            Mount("/env", app=host, middleware=bearer),
        ],
        middleware=[
            Middleware(KnownSites, names=(*LOOPBACK_NAMES, *allowed_hosts)),
            Middleware(WholeBodies, seconds=body_seconds),
        ],
        exception_handlers={HTTPException: refusal},
        lifespan=lifespan,
    )


def environment_url(base_url: str, env_id: str) -> str:
    """Where an MCP client finds the environment."""
    return f"{base_url.removesuffix('/')}/env/{env_id}/mcp"


async def health(_: Request) -> Response:
    """That requests are served."""
    return JSONResponse({"status": "ok"})


async def refusal(_: Request, error: Exception) -> Response:
    """A refusal of the application as `{"error": message}`."""
    refused = cast(HTTPException, error)
    return JSONResponse({"error": refused.detail}, refused.status_code, refused.headers)


async def read_body(request: Request) -> bytes:
    """Raises HTTPException when it is too large; no more of it is read then."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise HTTPException(413, f"the request body is larger than {MAX_BYTES} bytes")
    return bytes(body)


def _environment(body: bytes) -> Environment:
    try:
        raw = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the request body is no JSON: {str(error)[:200]}") from error
    if problem := check_arguments(raw):
        raise HTTPException(400, f"the request body cannot be used: {problem}")
    try:
        spec = EnvironmentSpec.model_validate(raw)
        return Environment.build(spec.domain, spec.references, spec.persona, spec.allowed_tools)
    except ValidationError as error:
        raise HTTPException(400, ": ".join(describe(error.errors(include_url=False)[0]))) from error
    except ValueError as error:
        raise HTTPException(400, str(error)) from error


class Bearer:
    """Lets a request pass that carries the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scheme, _, given = Request(scope).headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secrets.compare_digest(given.strip().encode(), self._token):
            raise HTTPException(401, "a bearer token is needed", {"WWW-Authenticate": "Bearer"})
        await self._app(scope, receive, send)
