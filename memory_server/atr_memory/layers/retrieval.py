"""Transcripts in chunks, of which a query brings up the best."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from atr_memory.layer import FinishedSession, Kept, MemoryLayer, Offer, beside_statements
from atr_memory.served_tools import served
from atr_memory.store import Entry
from atr_memory.text_search import Ranking, ranked
from atr_memory.tool_server import Arguments, MemoryTool, build_tool_server, listed_tools

_INSTRUCTIONS = """\
Passages of earlier sessions with this user, found by a query."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of one session; sessions are numbered from 1."""

    session: int
    text: str


def passages(entries: Sequence[Entry], longest: int) -> list[Passage]:
    """The transcripts in passages of whole lines and at most `longest` characters, a longer line alone. The
    last line of a passage begins the next one, so that question and answer stand together in one of them."""
    sessions = (entry.text for entry in entries if entry.kind == "session")
    return [
        Passage(number, "\n".join(lines))
        for number, text in enumerate(sessions, start=1)
        for lines in _cut(text.split("\n"), longest)
    ]


def _cut(lines: Sequence[str], longest: int) -> list[list[str]]:
    cut: list[list[str]] = [[]]
    for line in lines:
        size = sum(len(kept) + 1 for kept in cut[-1])
        if cut[-1] and size + len(line) > longest:
            before = cut[-1][-1]
            cut.append([before] if len(before) + len(line) + 1 <= longest else [])
        cut[-1].append(line)
    return cut


class _Query(Arguments):
    query: str = Field(min_length=1, description="What to look for.")
    limit: int = Field(default=5, ge=1, le=50, description="How many passages to answer with at most.")


class _Search:
    def __init__(self, find: Callable[[str, int], Sequence[Passage]]) -> None:
        self.find = find


def _search(search: _Search, arguments: _Query) -> dict[str, Any]:
    found = search.find(arguments.query, arguments.limit)
    told = [{"session": passage.session, "text": passage.text} for passage in found]
    return {"count": len(told), "passages": told}


TOOLS: Mapping[str, MemoryTool] = {
    "memory_search": MemoryTool(
        "Search earlier sessions",
        "The passages of earlier sessions with this user that fit a query best.",
        _Query,
        _search,
        read_only=True,
    )
}


class Retrieval(MemoryLayer):
    """`read`: a tool to query with, or the `top` passages for what the session is about in its prompt; of a
    session of which that is not known beforehand, the latest ones. `chunk` is how many characters a passage
    has at most."""

    def __init__(
        self,
        *,
        name: str = "retrieval",
        by: str = "bm25",
        ranking: Ranking = ranked,
        read: Literal["tool", "pushed"] = "tool",
        top: int = 5,
        chunk: int = 600,
    ) -> None:
        self.name = name
        self.offers = read == "tool"
        self.listed = tuple(listed_tools(TOOLS)) if self.offers else ()
        self._by, self._ranking, self._read, self._top, self._chunk = by, ranking, read, top, chunk

    @property
    def settings(self) -> Mapping[str, Any]:
        shape = {"by": self._by, "read": self._read, "top": self._top, "chunk": self._chunk}
        return {"kind": "retrieval", **shape}

    def distil(self, entries: Sequence[Entry], session: FinishedSession) -> str:
        return session.transcript

    def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
        if self._read == "tool":
            return beside_statements(None, entries)
        known = passages(entries, self._chunk)
        found = self._found(known, query, self._top) if query else known[-self._top :]
        shown = "\n\n".join(f"[Session {passage.session}]\n{passage.text}" for passage in found)
        return beside_statements(shown, entries)

    @asynccontextmanager
    async def open(self, kept: Kept) -> AsyncGenerator[Offer | None]:
        if self._read == "pushed":
            yield None
            return
        known = passages(kept.entries, self._chunk)
        search = _Search(lambda query, limit: self._found(known, query, limit))
        async with served(build_tool_server("atr-retrieval", _INSTRUCTIONS, TOOLS, search)) as offer:
            yield offer

    def findable(self, kept: Kept, queries: Sequence[str]) -> str | None:
        known = passages(kept.entries, self._chunk)
        found = {p: None for query in queries for p in self._found(known, query, self._top)}
        return beside_statements("\n".join(passage.text for passage in found), kept.entries)

    def _found(self, known: Sequence[Passage], query: str, top: int) -> list[Passage]:
        return [known[p] for p in self._ranking([passage.text for passage in known], query, top)]
