"""A memory class as you might bring one: `path: "atr_memory.example_class:Sayings"` of kind `class`."""

from __future__ import annotations

import json

from atr_memory.layer import FinishedSession
from atr_memory.text_search import ranked
from atr_memory.transcript import lines_said


class Sayings:
    """Keeps what the user has said, each time with what was said to them before, and shows the `most` sayings
    that share words with the task; where that is not known, the latest."""

    def __init__(self, frozen: str | None = None, *, most: int = 10) -> None:
        self._sayings: list[str] = json.loads(frozen) if frozen else []
        self._most = most

    def read(self, query: str) -> str | None:
        if not query:
            return "\n\n".join(self._sayings[-self._most :]) or None
        best = ranked(self._sayings, query, self._most)
        return "\n\n".join(self._sayings[position] for position in best) or None

    def update(self, session: FinishedSession) -> None:
        before = ""
        for line in lines_said(session.messages):
            if line.startswith("[user]"):
                self._sayings.append(f"{before}\n{line}".strip())
            before = line

    def freeze(self) -> str:
        return json.dumps(self._sayings, ensure_ascii=False)
