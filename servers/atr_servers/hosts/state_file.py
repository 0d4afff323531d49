"""An environment that outlives its process: for clients that start a server process per call."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import structlog
from filelock import FileLock, Timeout
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR
from pydantic import BaseModel, ConfigDict

from atr_data.errors import DataError
from atr_data.files import write_atomic
from atr_data.reading import Missing, StrPath, Unreadable, path_problem, read_json
from atr_servers.environment import Environment
from atr_servers.hosts.environment_spec import Binding

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp.server.context import CallNext, HandlerResult, ServerMiddleware

_POLL_SECONDS = 0.01


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    binding: Binding
    state: dict[str, Any]


class StateFile:
    """The state of one environment on disk, and the lock beside it (`<file>.lock`).

    The file is the truth: each call, read or write, takes the lock, loads, runs, and saves what changed. So
    processes that overlap see each other's writes and lose none.
    """

    def __init__(self, path: StrPath, binding: Binding, *, lock_seconds: float = 30.0) -> None:
        """A symbolic link is followed: the state is kept in what it names. Raises DataError when there is no
        folder for the file, or the link leads nowhere."""
        self._path = _target(Path(path))
        self._binding = binding
        self._lock_seconds = lock_seconds
        self._file_lock = FileLock(self._path.with_name(self._path.name + ".lock"))
        self._task_lock = anyio.Lock()

    async def open(self, environment: Environment) -> None:
        """Puts the stored state into the environment, or writes the first state when there is no file yet.

        Raises DataError when the file is broken, belongs to another session, or stays locked; OSError when
        the folder cannot be written.
        """
        async with self._locked():
            if self._path.exists():
                self._load(environment)
            else:
                self._save(environment.snapshot())

    def keep(self, environment: Environment) -> ServerMiddleware[Any]:
        """Middleware for the server of that environment.

        A call whose state cannot be loaded or saved is answered with an internal error that says why, and
        has not happened: the next call loads the file again.
        """

        async def keep_state(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
            if ctx.method != "tools/call":
                return await call_next(ctx)
            try:
                async with self._locked():
                    with anyio.CancelScope(shield=True):
                        self._load(environment)
                        before = environment.snapshot()
                        result = await call_next(ctx)
                        if (after := environment.snapshot()) != before:
                            self._save(after)
                        return result
            except (DataError, OSError) as error:
                structlog.get_logger().error("state not kept", error=str(error))
                raise MCPError(INTERNAL_ERROR, str(error)) from error

        return keep_state

    @asynccontextmanager
    async def _locked(self) -> AsyncGenerator[None]:
        async with self._task_lock:
            try:
                with anyio.fail_after(self._lock_seconds):
                    await self._acquire()
            except TimeoutError as error:
                raise DataError("is locked by another process", path=self._path) from error
            try:
                yield
            finally:
                self._file_lock.release()

    async def _acquire(self) -> None:
        while True:
            try:
                self._file_lock.acquire(blocking=False)
                return
            except Timeout:
                await anyio.sleep(_POLL_SECONDS)

    def _load(self, environment: Environment) -> None:
        try:
            content = _Content.model_validate(read_json(self._path))
            if content.binding != self._binding:
                raise DataError(self._difference(content.binding), path=self._path)
            environment.restore(content.state)
        except Missing as error:
            raise DataError("state file is gone; start the server again", path=self._path) from error
        except (ValueError, Unreadable) as error:
            reason = f": {error.reason}" if isinstance(error, Unreadable) else ""
            raise DataError(
                f"is broken or no state file{reason}; delete it to start afresh", path=self._path
            ) from error

    def _difference(self, found: Binding) -> str:
        if (found.episode_id, found.session_id) != (self._binding.episode_id, self._binding.session_id):
            return (
                f"holds the state of {_name(found)}, not of {_name(self._binding)}; use one file per session"
            )
        return f"holds the state of {_name(found)} as it was before its references or tools were changed"

    def _save(self, state: dict[str, Any]) -> None:
        write_atomic(self._path, _Content(binding=self._binding, state=state).model_dump_json())


def _target(path: Path) -> Path:
    if problem := path_problem(path):
        raise DataError(problem)
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise DataError("is a symbolic link that leads nowhere", path=path)
    if not target.parent.is_dir():
        raise DataError("there is no such folder for the state file", path=target.parent)
    return target


def _name(binding: Binding) -> str:
    if binding.session_id is None:
        return "an environment without an episode"
    return f"session {binding.session_id} of episode {binding.episode_id}"
