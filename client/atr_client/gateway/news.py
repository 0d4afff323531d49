"""Waiting for something to change."""

from __future__ import annotations

import anyio


class News:
    """Wakes all who wait; each then looks for itself what there is."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def tell(self) -> None:
        self._event.set()
        self._event = anyio.Event()

    async def wait(self) -> None:
        await self._event.wait()
