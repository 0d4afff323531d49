"""Episodes step by step over HTTP: many at once, for training loops in other processes and languages."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.exceptions import HTTPException

from atr_client.gateway.stepped_play import Step
from atr_client.models.base import ModelReply
from atr_data.trajectory import Message


class Stepper(Protocol):
    """Episodes and sittings are stepped alike."""

    last: Step | None

    async def __aenter__(self) -> Any: ...

    async def __aexit__(self, *raised: Any) -> None: ...

    async def reset(self) -> Step: ...

    async def step(self, reply: ModelReply) -> Step: ...

    @property
    def conversation(self) -> Sequence[Message]: ...

    @property
    def outcome(self) -> dict[str, Any]: ...


MakeStepper = Callable[[str | None, float | None], Stepper]
"""From a memory and a time limit in seconds per session."""


@dataclass(eq=False)
class _Open:
    stepper: Stepper
    used: float = field(default_factory=time.monotonic)
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    closing: anyio.Event = field(default_factory=anyio.Event)


class StepHost:
    """Opens and closes episodes. `episodes` are those it has, by id, `others` what is stepped as they are:
    nothing else can be named. One that got
    no request for `ttl` seconds is closed; at most `cap` are open."""

    def __init__(
        self,
        episodes: Mapping[str, Path],
        *,
        ttl: float,
        cap: int,
        others: Mapping[str, MakeStepper] | None = None,
    ) -> None:
        self.episodes = episodes
        self.others = others or {}
        self._ttl = ttl
        self._cap = cap
        self._open: dict[str, _Open] = {}
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self._close_idle)
            yield
            self._tasks.cancel_scope.cancel()

    async def open(self, stepper: Stepper) -> tuple[str, Step]:
        """Begins the episode. Raises HTTPException when too many are open, and what `reset` raises."""
        assert self._tasks, "the host runs"
        if len(self._open) >= self._cap:
            raise HTTPException(503, f"{self._cap} episodes are open, which is the cap; close one first")
        episode_id, opened = secrets.token_urlsafe(24), _Open(stepper)
        self._open[episode_id] = opened
        await self._tasks.start(self._own, episode_id, opened)
        try:
            return episode_id, await stepper.reset()
        except BaseException:
            self.close(episode_id)
            raise

    @asynccontextmanager
    async def using(self, episode_id: str) -> AsyncGenerator[Stepper]:
        """One request at a time. Raises HTTPException for an id that is not open, and for a second one."""
        if (opened := self._open.get(episode_id)) is None:
            raise HTTPException(404, "no such episode is open; it may have been closed")
        if opened.lock.locked():
            raise HTTPException(409, "the episode is busy with another request")
        async with opened.lock:
            opened.used = time.monotonic()
            yield opened.stepper

    def close(self, episode_id: str) -> bool:
        if (opened := self._open.pop(episode_id, None)) is None:
            return False
        opened.closing.set()
        return True

    async def close_all(self) -> None:
        for episode_id in list(self._open):
            self.close(episode_id)

    async def _own(self, episode_id: str, opened: _Open, *, task_status: TaskStatus[None]) -> None:
        """Enters and leaves the stepper in one task, as its task group needs."""
        async with opened.stepper:
            task_status.started()
            await opened.closing.wait()

    async def _close_idle(self) -> None:
        while True:
            await anyio.sleep(self._ttl / 10)
            oldest = time.monotonic() - self._ttl
            for episode_id, opened in list(self._open.items()):
                if opened.used < oldest and not opened.lock.locked():
                    self.close(episode_id)
