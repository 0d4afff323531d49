"""One call after the other: for places where an agent may send several at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from atr_client.gateway.acting import Told, refused

MOST_WAITING = 64
"""Calls that may queue for one session; a flood of them is refused."""


class Turnstile:
    """Lets calls through in the order in which they came."""

    def __init__(self) -> None:
        self._lock = anyio.Lock()
        self._waiting = 0

    async def through(self, call: Callable[[], Awaitable[Told]]) -> Told:
        if self._waiting >= MOST_WAITING:
            return refused("too many calls at once; wait for the answers to those before")
        self._waiting += 1
        try:
            async with self._lock:
                return await call()
        finally:
            self._waiting -= 1

    async def after(self, call: Callable[[], Awaitable[Told]]) -> Told:
        """Once no call is on its way; this one is never refused."""
        async with self._lock:
            return await call()
