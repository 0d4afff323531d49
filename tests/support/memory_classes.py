"""Memory classes as somebody might bring them, sound and unsound."""

from __future__ import annotations

import json
from typing import Any

from atr_memory import FinishedSession


class Counting:
    """Shows how many sessions it has seen."""

    def __init__(self, frozen: str | None = None, *, greeting: str = "seen") -> None:
        self.seen: list[str] = json.loads(frozen) if frozen else []
        self.greeting = greeting

    def read(self, query: str) -> str | None:
        return f"{self.greeting} {len(self.seen)} about {query!r}" if self.seen else None

    async def update(self, session: FinishedSession) -> None:
        self.seen.append(session.session_id)

    def freeze(self) -> str:
        return json.dumps(self.seen)


class WithTools(Counting):
    """Offers a tool to write with, and one that fails."""

    def pin(self, text: str) -> str:
        """Keep a text."""
        if text == "boom":
            raise KeyError(text)
        self.seen.append(text)
        return "pinned"

    @property
    def tools(self) -> list[Any]:
        return [self.pin]


class Broken(Counting):
    def freeze(self) -> Any:
        raise OSError("no ink")


class Wordless(Counting):
    def freeze(self) -> Any:
        return 7


class Half:
    def read(self, query: str) -> None: ...
