"""The whole text of all sessions in the prompt, as in the published results; and nothing of them."""

from __future__ import annotations

from collections.abc import Sequence

from atr_memory.layer import FinishedSession, MemoryLayer
from atr_memory.store import Entry


class WholeText(MemoryLayer):
    """All entries in order, as one text. Sessions and prior statements are numbered separately, each from
    1."""

    name = "context"

    def distil(self, entries: Sequence[Entry], session: FinishedSession) -> str:
        return session.transcript

    def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
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


CONTEXT: MemoryLayer = WholeText()

NONE: MemoryLayer = MemoryLayer()
"""Nothing of earlier sessions: what an agent without memory reads."""
