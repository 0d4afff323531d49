"""The HTTP host as a process: its socket, its admin token, its signals."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from starlette.types import ASGIApp

from atr_servers.environment import Environment
from atr_servers.hosts.environment_host import Host
from atr_servers.hosts.http_app import BODY_SECONDS, create_app, environment_url

_WILDCARDS = ("0.0.0.0", "::")
_IDLE_SECONDS = 75
"""How long a connection without a request stays open. A model often thinks for longer than the usual 5 s, and
a client that sends just as its connection is closed loses the call."""
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""One that is ignored already, as `nohup` does, stays ignored."""


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Where to listen (port 0: any free one) and what to allow. `request_seconds`: how long a client may take
    to send a request, from its connection to the end of the headers, and again to the end of the body.

    `ttl` in seconds. `admin_token_file` None: a fresh file in the folder for temporary files.
    `allowed_hosts`: names, besides the loopback ones and `address`, under which clients may call this host.
    """

    address: str
    port: int
    ttl: float
    cap: int
    admin_token_file: Path | None = None
    environment_token: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    request_seconds: float = BODY_SECONDS

    @property
    def names(self) -> tuple[str, ...]:
        """Under which clients may call this host, besides the loopback ones."""
        own = () if self.address in _WILDCARDS else (_bracketed(self.address),)
        return (*self.allowed_hosts, *own)


async def serve_http(
    settings: HttpSettings,
    announce: Callable[[dict[str, Any]], None],
    environments: Sequence[Environment] = (),
) -> None:
    """Serves until SIGINT, SIGTERM or SIGHUP; a second one does not wait for open connections.

    `environments` are opened at the start and stay open. Once requests are served, `announce` gets `{"url",
    "token_file", "environments": [{"id", "url"}]}`: the base URL, the file with the admin token and these
    environments. Raises OSError when the socket cannot be bound or the token file not be written.
    """
    host = Host(ttl=settings.ttl, cap=settings.cap)
    with admin_token(settings.admin_token_file) as admin:
        app = create_app(
            host,
            admin_token=admin.token,
            environment_token=settings.environment_token,
            allowed_hosts=settings.names,
            body_seconds=settings.request_seconds,
        )

        async def ready(base_url: str) -> None:
            ids = [await host.open(environment, expires=False) for environment in environments]
            opened = [{"id": env_id, "url": environment_url(base_url, env_id)} for env_id in ids]
            announce({"url": base_url, "token_file": str(admin.path), "environments": opened})

        await serve_app(settings, app, ready, host.close_all)


async def serve_app(
    settings: HttpSettings,
    app: ASGIApp,
    ready: Callable[[str], Awaitable[None]],
    stop: Callable[[], Awaitable[None]],
) -> None:
    """Serves an application until SIGINT, SIGTERM or SIGHUP; a second one does not wait for open connections.

    `ready` gets the base URL once requests are served; `stop` runs before connections are waited for. Raises
    OSError when the socket cannot be bound.
    """
    with _listening(settings.address, settings.port) as listener:
        base_url = f"http://{_bracketed(settings.address)}:{listener.getsockname()[1]}"
        uvicorn_server = _UvicornServer(app, lambda: ready(base_url))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_stop_on_signal, uvicorn_server, stop)
            tasks.start_soon(_close_half_open, uvicorn_server, settings.request_seconds)
            await uvicorn_server.serve(sockets=[listener])
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def serving(app: ASGIApp, address: str = "127.0.0.1", port: int = 0) -> AsyncGenerator[str]:
    """Serves an application while the block runs; gives the base URL. Signals are left alone."""
    with _listening(address, port) as listener:
        started = anyio.Event()

        async def ready() -> None:
            started.set()

        server = _UvicornServer(app, ready)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listener])
            await started.wait()
            try:
                yield f"http://{_bracketed(address)}:{listener.getsockname()[1]}"
            finally:
                server.should_exit = True


class _UvicornServer(uvicorn.Server):
    """uvicorn that tells when it is ready and leaves the signals to its caller."""

    def __init__(self, app: Any, ready: Callable[[], Any]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="on",
                ws="none",
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=5,
                timeout_keep_alive=_IDLE_SECONDS,
            )
        )
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self._ready()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def _stop_on_signal(server: uvicorn.Server, stop: Callable[[], Awaitable[None]]) -> None:
    """Stops what is served first: an open event stream of a client would hold uvicorn up."""
    wanted = [one for one in _STOPPING if signal.getsignal(one) is not signal.SIG_IGN]
    with anyio.open_signal_receiver(*wanted) as signals:
        async for _ in signals:
            server.force_exit = server.should_exit
            server.should_exit = True
            await stop()


async def _close_half_open(server: uvicorn.Server, seconds: float) -> None:
    """Closes connections on which no request has begun for so long, that is none whose headers are whole."""
    waiting: dict[Any, tuple[object, float]] = {}
    while True:
        await anyio.sleep(min(1.0, seconds / 4))
        now = time.monotonic()
        seen: dict[Any, tuple[object, float]] = {}
        for connection in list(server.server_state.connections):
            cycle: Any = getattr(connection, "cycle", None)
            if cycle is not None and not cycle.response_complete:
                continue
            before, since = waiting.get(connection, (cycle, now))
            seen[connection] = (cycle, since if before is cycle else now)
            if now - seen[connection][1] > seconds:
                connection.transport.close()
        waiting = seen


def _listening(address: str, port: int) -> socket.socket:
    """asyncio leaves Nagle's algorithm on for a socket made this way, which costs 40 ms a request. The kernel
    asks after peers that went away without a word."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.create_server((address, port), family=family)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return listener


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


@dataclass(frozen=True, slots=True)
class AdminToken:
    token: str
    path: Path


@contextmanager
def admin_token(path: Path | None) -> Generator[AdminToken]:
    """A new token in a file that only this user can read, there for as long as it is valid."""
    if path is None:
        descriptor, name = tempfile.mkstemp(prefix="atr-admin-", suffix=".token")
        path = Path(name)
    else:
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    token = secrets.token_urlsafe(32)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(token)
    try:
        yield AdminToken(token, path.absolute())
    finally:
        path.unlink(missing_ok=True)
