"""One bounded text that the agent's model writes anew after each session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atr_memory.layer import FinishedSession, Kept, Learned, MemoryLayer, Offer, beside_statements
from atr_memory.store import Entry
from atr_memory.writer import Writer, memory_prompt


class Rewrite(MemoryLayer):
    """What a session leaves is the whole text after it. A model that answers nothing leaves it as it was; a
    text that is longer than `characters` is cut at the end of a line."""

    follows = False
    rewords = True

    def __init__(self, writer: Writer, *, name: str = "rewrite", characters: int = 4000) -> None:
        self.name = name
        self._writer, self._characters = writer, characters

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"kind": "rewrite", "characters": self._characters}

    def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
        texts = [entry.text for entry in entries if entry.kind == "session"]
        return beside_statements(texts[-1] if texts else None, entries)

    async def learn(self, kept: Kept, session: FinishedSession, offer: Offer | None) -> Learned:
        transcript = session.transcript
        if not transcript:
            return Learned("")
        instructions = memory_prompt("rewrite").replace("{characters}", str(self._characters))
        written = await self._writer.write(instructions, material(kept.last, transcript))
        return Learned(self._bounded(written.text.strip()) or kept.last, written.usage)

    def size(self, kept: Kept) -> int:
        """The latest text is all there is: those before it went into it."""
        return len(kept.last.encode("utf-8", "replace"))

    def stored(self, kept: Kept) -> str:
        return self.render(kept.entries) or ""

    def _bounded(self, text: str) -> str:
        if len(text) <= self._characters:
            return text
        cut = text.rfind("\n", 0, self._characters + 1)
        return text[: cut if cut > 0 else self._characters]


def material(memory: str, transcript: str) -> str:
    """What a model is shown when it rewrites a memory."""
    return f"<memory>\n{memory}\n</memory>\n\n<session>\n{transcript}\n</session>"
