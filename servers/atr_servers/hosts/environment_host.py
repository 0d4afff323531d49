"""Many environments in one process, each under its own unguessable address."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from atr_servers.environment import Environment
from atr_servers.hosts.call_history import CallHistory
from atr_servers.server import serve_environment

LONGEST_TTL = 365 * 86_400.0
"""Seconds."""


class HostFull(Exception):
    """The host serves as many environments as it may."""


@dataclass(eq=False)
class _Environment:
    manager: StreamableHTTPSessionManager
    expires: bool
    environment: Environment | None = None
    history: CallHistory | None = None
    used: float = field(default_factory=time.monotonic)
    closing: anyio.Event = field(default_factory=anyio.Event)
    closed: anyio.Event = field(default_factory=anyio.Event)


class Host:
    """Opens, serves and closes environments; an ASGI application for `/<id>/mcp`.

    An environment is its server object, so all connections to one address share one state, in both protocol
    eras. One that got no request for `ttl` seconds is closed. `cap` is the largest number open at once.
    """

    def __init__(self, *, ttl: float, cap: int) -> None:
        """Raises ValueError for a `ttl` that is no span of time."""
        if not 0 < ttl <= LONGEST_TTL:
            raise ValueError(f"ttl must be seconds above 0 and at most {LONGEST_TTL:.0f}, got {ttl}")
        self.ttl = ttl
        self.cap = cap
        self._environments: dict[str, _Environment] = {}
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """The time in which environments can be opened. At its end all are closed."""
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self._close_idle)
            try:
                yield
            finally:
                self._tasks.cancel_scope.cancel()

    async def open(self, environment: Environment, *, expires: bool = True) -> str:
        """Serves the environment from now on and returns its id. Raises HostFull."""
        history = CallHistory()
        server = serve_environment(environment)
        server.middleware.append(history.record)
        return await self._open(_Environment(_manager(server), expires, environment, history))

    async def open_server(self, server: Server[Any], *, expires: bool = True) -> str:
        """The same for a server of another kind, of which no state and no calls are told. Raises HostFull."""
        return await self._open(_Environment(_manager(server), expires))

    async def _open(self, hosted: _Environment) -> str:
        if len(self._environments) >= self.cap:
            raise HostFull(f"{self.cap} environments are open, which is the cap; close one first")
        if self._tasks is None:
            raise RuntimeError("the host is not running")
        env_id = secrets.token_urlsafe(24)
        self._environments[env_id] = hosted
        await self._tasks.start(self._own, env_id, hosted)
        return env_id

    def state(self, env_id: str) -> dict[str, Any] | None:
        """`{"domain", "tables": {table: {id: row}}}` as it is now; None when there is no such environment."""
        hosted = self._environments.get(env_id)
        return hosted.environment.snapshot() if hosted and hosted.environment else None

    def calls(self, env_id: str) -> dict[str, Any] | None:
        """The calls so far, as `CallHistory.document` tells them; None when there is no such environment."""
        hosted = self._environments.get(env_id)
        return hosted.history.document() if hosted and hosted.history else None

    async def close(self, env_id: str) -> bool:
        """True once the environment is closed, False when there is none of that id."""
        environment = self._environments.pop(env_id, None)
        if environment is None:
            return False
        environment.closing.set()
        await environment.closed.wait()
        return True

    async def close_all(self) -> None:
        for env_id in list(self._environments):
            await self.close(env_id)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope["path"]).removeprefix(str(scope.get("root_path", "")))
        match path.strip("/").split("/"):
            case [env_id, "mcp"] if env_id in self._environments:
                environment = self._environments[env_id]
                environment.used = time.monotonic()
                await environment.manager.handle_request(scope, receive, send)
            case _:
                raise HTTPException(404, "no such environment; it may have been closed")

    async def _own(self, env_id: str, environment: _Environment, *, task_status: TaskStatus[None]) -> None:
        """Enters and leaves the session manager in one task, as its task group needs."""
        try:
            async with environment.manager.run():
                task_status.started()
                await environment.closing.wait()
        finally:
            self._environments.pop(env_id, None)
            environment.closed.set()

    async def _close_idle(self) -> None:
        while True:
            await anyio.sleep(self.ttl / 10)
            oldest = time.monotonic() - self.ttl
            for env_id, environment in list(self._environments.items()):
                if environment.expires and environment.used < oldest:
                    await self.close(env_id)


def _manager(server: Server[Any]) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(server, json_response=True)
