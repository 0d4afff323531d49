"""The report over HTTP, for a browser on this machine."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from atr_client.errors import ConfigError
from atr_client.logs import get_logger
from atr_client.outputs.live_report import LiveReport
from atr_data import DataError
from atr_evaluator.report.page import page, reader_data
from atr_servers.hosts.http_app import LOOPBACK_NAMES, refusal
from atr_servers.hosts.requests import KnownSites

_PAUSE = 1.0
"""Seconds between two looks at the folders."""

_AT_ONCE = 5.0
"""Seconds of reading after which the page is told, while there is more to read."""

_log = get_logger()


def view_app(report: LiveReport, title: str) -> Starlette:
    """`report` has taken its first step. Requests under a foreign name are refused, so that no web page can
    read the transcripts."""

    async def whole(_: Request) -> Response:
        snapshot = report.current

        def made() -> str:
            return page(title, snapshot.overview, snapshot.sessions, served=True, body=report.fragment())

        return HTMLResponse(await anyio.to_thread.run_sync(made))

    async def charts_and_tables(_: Request) -> Response:
        return HTMLResponse(await anyio.to_thread.run_sync(report.fragment))

    async def data(_: Request) -> Response:
        return JSONResponse(reader_data(report.current.cells, report.current.sessions))

    async def state(_: Request) -> Response:
        snapshot = report.current
        version = f"{snapshot.version}-{snapshot.waiting}"
        return JSONResponse({"version": version, "told": snapshot.told})

    async def cell(request: Request) -> Response:
        number: int = request.path_params["number"]
        sessions = report.current.sessions
        if number >= len(sessions):
            raise HTTPException(404, "no such cell")
        return Response(zlib.decompress(sessions[number].documents), media_type="application/json")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_follow, report)
            yield
            tasks.cancel_scope.cancel()

    return Starlette(
        routes=[
            Route("/", whole),
            Route("/overview", charts_and_tables),
            Route("/data", data),
            Route("/state", state),
            Route("/cells/{number:int}", cell),
        ],
        middleware=[Middleware(KnownSites, names=LOOPBACK_NAMES)],
        exception_handlers={HTTPException: refusal},
        lifespan=lifespan,
    )


async def _follow(report: LiveReport) -> None:
    """Reads on while the page is shown; a folder that cannot be read now is looked at again."""
    while True:
        try:
            await anyio.to_thread.run_sync(report.step, _AT_ONCE)
        except (ConfigError, DataError, OSError) as error:
            _log.warning("the folder cannot be read", reason=str(error))
        await anyio.sleep(0 if report.current.waiting else _PAUSE)
