"""Standing rules, distilled from each session and shown as a list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from atr_data.constants import DEFLECT_TEXT
from atr_memory.layer import FinishedSession, Kept, Learned, MemoryLayer, Offer, beside_statements
from atr_memory.store import Entry
from atr_memory.transcript import DISTILLED
from atr_memory.writer import Writer, memory_prompt

_LINE = re.compile(r"^\[(user|assistant to user)\]: (.*)$")
_IN_GENERAL = re.compile(
    r"\b(?:in general|generally|as a rule|usually|normally|always|never|whenever|every time|each time"
    r"|by default|default|from now on|going forward|in future|in the future|as a habit|habitually"
    r"|any time|anytime|standing|prefer|preference|rather have|at all times)\b",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class Rules(MemoryLayer):
    """The offline extractor: of what the user said, the answers to questions about what holds in general, and
    the sentences that say so of themselves; word for word, without the rest of the session."""

    name = "rules"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"kind": "rules", "extractor": "offline"}

    def distil(self, entries: Sequence[Entry], session: FinishedSession) -> str:
        known = {line for entry in entries for line in entry.text.split("\n")}
        return "\n".join(line for line in dict.fromkeys(_rules(session.transcript)) if line not in known)

    def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
        return beside_statements(rules_text(entries), entries)


class ModelRules(MemoryLayer):
    """A model distils each session by itself. `extractor` says which one."""

    follows = False
    rewords = True

    def __init__(self, writer: Writer, extractor: str, *, name: str = "rules-model") -> None:
        self.name = name
        self._writer, self._extractor = writer, extractor

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"kind": "rules", "extractor": self._extractor}

    def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
        return beside_statements(rules_text(entries), entries)

    async def learn(self, kept: Kept, session: FinishedSession, offer: Offer | None) -> Learned:
        transcript = session.transcript
        if not transcript:
            return Learned("")
        written = await self._writer.write(memory_prompt("distil"), transcript)
        said = (line.strip() for line in written.text.split("\n"))
        known = {line for entry in kept.sessions for line in entry.text.split("\n")}
        new = dict.fromkeys(line for line in said if line.startswith("- ") and line not in known)
        return Learned("\n".join(new), written.usage)


def rules_text(entries: Sequence[Entry]) -> str | None:
    """The rules of all sessions as one list."""
    lines = [entry.text for entry in entries if entry.kind == "session"]
    return "\n".join([DISTILLED, *lines]) if lines else None


def _rules(transcript: str) -> Iterator[str]:
    asked = ""
    for line in transcript.split("\n"):
        match = _LINE.match(line)
        if match is None:
            continue
        speaker, text = match.groups()
        if speaker == "assistant to user":
            asked = next((s for s in reversed(_SENTENCE.split(text)) if s.endswith("?")), "")
            continue
        said = [s for s in _SENTENCE.split(text) if s and DEFLECT_TEXT.lower() not in s.lower()]
        if asked and _IN_GENERAL.search(asked) and said:
            yield f"- (asked: {asked}) {' '.join(said)}"
        else:
            yield from (f"- {sentence}" for sentence in said if _IN_GENERAL.search(sentence))
        asked = ""
