"""The gateway's doors: standard input and output, or addresses over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

import anyio
from mcp.server import Server
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount, Route

from atr_client.gateway.desk import Desk
from atr_client.gateway.gateway_server import build_gateway_server
from atr_client.gateway.seat import Seat
from atr_servers.hosts.environment_host import Host
from atr_servers.hosts.http_app import BODY_SECONDS, LOOPBACK_NAMES, Bearer, health, refusal
from atr_servers.hosts.requests import KnownSites, WholeBodies
from atr_servers.hosts.serve_http import HttpSettings, serve_app
from atr_servers.hosts.stdio import serve_stdio

Door = tuple[str, Server[Any]]
SCORING_SECONDS = 60.0
"""How long the end of a program waits for an episode that is over to be scored."""


class Runs(Protocol):
    """A desk of either track."""

    async def run(self) -> None: ...

    async def scored(self) -> None: ...


async def serve_at_stdio(desk: Runs, server: Server[Any]) -> None:
    """One agent plays through a door of the desk until standard input ends."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.run)
        await serve_stdio(server)
        with anyio.move_on_after(SCORING_SECONDS):
            await desk.scored()
        tasks.cancel_scope.cancel()


async def serve_over_http(
    desks: Sequence[Runs], doors: Sequence[Door], settings: HttpSettings, announce: Callable[[str], None]
) -> None:
    """Serves every door of the desks at an address of its own, until SIGINT or SIGTERM.

    `announce` gets a line for each address. An address is a secret: who knows that of a test session reaches
    this session and no other.
    """
    host = Host(ttl=settings.ttl, cap=settings.cap)
    app = gateway_app(host, desks, token=settings.environment_token, allowed_hosts=settings.names)

    async def ready(base_url: str) -> None:
        for name, server in doors:
            announce(f"{name}: {base_url}/play/{await host.open_server(server, expires=False)}/mcp")

    await serve_app(settings, app, ready, host.close_all)


def doors(desk: Desk, *, all_tools: bool | None = None) -> Iterator[Door]:
    """The servers of one cell by name: that of the whole episode, then one for each test session."""
    yield desk.cell.key.cell_id, build_gateway_server(Seat(desk), all_tools=all_tools)
    if desk.mode != "learn":
        for hosted in desk.tests:
            seat = Seat(desk, hosted.session.session_id)
            yield f"  {hosted.name}", build_gateway_server(seat, all_tools=all_tools)


def gateway_app(
    host: Host, desks: Sequence[Runs], *, token: str | None = None, allowed_hosts: Sequence[str] = ()
) -> Starlette:
    """`/play/<id>/mcp` and `GET /health`. Who may come is as for the environment host; without `token` an
    address is its only secret."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with host.running(), anyio.create_task_group() as tasks:
            for desk in desks:
                tasks.start_soon(desk.run)
            yield
            tasks.cancel_scope.cancel()

    return Starlette(
        routes=[
            Route("/health", health, methods=["GET"]),
            Mount("/play", app=host, middleware=[Middleware(Bearer, token=token)] if token else []),
        ],
        middleware=[
            Middleware(KnownSites, names=(*LOOPBACK_NAMES, *allowed_hosts)),
            Middleware(WholeBodies, seconds=BODY_SECONDS),
        ],
        exception_handlers={HTTPException: refusal},
        lifespan=lifespan,
    )
