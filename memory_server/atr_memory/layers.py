"""Memory layers: what a memory's entries become when an agent reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from atr_memory.store import Entry


class MemoryLayer(Protocol):
    """One way to present a memory. `render` answers None when there is nothing to remember."""

    @property
    def name(self) -> str: ...

    def render(self, entries: Sequence[Entry]) -> str | None: ...


@dataclass(frozen=True, slots=True)
class _Context:
    name: str = "context"

    def render(self, entries: Sequence[Entry]) -> str | None:
        parts: list[str] = []
        sessions = statements = 0
        for entry in entries:
            if entry.kind == "session":
                sessions += 1
                parts.append(f"[Session {sessions}]\n{entry.text}")
            else:
                statements += 1
                parts.append(f"[Prior statement {statements}]\n[user]: {entry.text}")
        return "\n\n".join(parts) or None


CONTEXT: MemoryLayer = _Context()
"""All entries in order, as one text for the system prompt. Sessions and prior statements are numbered
separately, each from 1."""
