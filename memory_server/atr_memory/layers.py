"""Memory layers: what a memory's entries become when an agent reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """`sessions`: whether transcripts are shown; what the user said outside any session always is."""

    name: str
    sessions: bool

    def render(self, entries: Sequence[Entry]) -> str | None:
        parts: list[str] = []
        sessions = statements = 0
        for entry in entries:
            if entry.kind == "session":
                if not self.sessions:
                    continue
                sessions += 1
                parts.append(f"[Session {sessions}]\n{entry.text}")
            else:
                statements += 1
                parts.append(f"[Prior statement {statements}]\n[user]: {entry.text}")
        return "\n\n".join(parts) or None


CONTEXT: MemoryLayer = _Context("context", sessions=True)
"""All entries in order, as one text for the system prompt. Sessions and prior statements are numbered
separately, each from 1."""

NONE: MemoryLayer = _Context("none", sessions=False)
"""Nothing of earlier sessions: what an agent without memory reads."""

LAYERS: Mapping[str, MemoryLayer] = {layer.name: layer for layer in (CONTEXT, NONE)}
