"""What a memory layer is: what it keeps of a session, shows in a prompt, and offers to an agent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from atr_data.trajectory import Message
from atr_data.usage import Usage
from atr_memory.store import Entry, MemoryStore
from atr_memory.transcript import render_transcript

if TYPE_CHECKING:
    from mcp.types import Tool


class MemoryFault(Exception):
    """The memory failed, and not the agent: says in one line what happened. It never becomes a score."""


@dataclass(frozen=True, slots=True)
class FinishedSession:
    """A session as a memory learns from it."""

    session_id: str
    messages: Sequence[Message]

    @property
    def transcript(self) -> str:
        return render_transcript(self.messages)


@dataclass(frozen=True, slots=True)
class Learned:
    """`text` is what the layer keeps of a session, "" for nothing; `usage` what a model took for it."""

    text: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory as it stands: its entries, the store that holds their files, and whether it is a snapshot."""

    entries: Sequence[Entry]
    store: MemoryStore
    frozen: bool = False

    @property
    def sessions(self) -> Sequence[Entry]:
        return [entry for entry in self.entries if entry.kind == "session"]

    @property
    def last(self) -> str:
        """What was kept of the last session that left anything."""
        return next((entry.text for entry in reversed(self.sessions) if entry.text), "")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a memory tool answered."""

    text: str
    is_error: bool


class Offer(Protocol):
    """What one session has of a memory beside the text in its prompt, on a copy of its own. `folder` holds
    files of its own until the offer ends."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    @property
    def folder(self) -> Path | None: ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Raises MemoryFault when the memory failed, and not the call."""
        ...

    async def close(self) -> None:
        """Stops whatever serves the tools; nothing writes to the folder afterwards."""
        ...

    async def writes(self) -> int:
        """How much was written through it."""
        ...


class MemoryLayer:
    """One way to keep a memory; the least of them keeps nothing.

    `name` stands in paths and tables, `settings` are what runs are compared by. `follows`: what is kept
    follows from the transcripts alone, so that it can be made anew at any time. `relearns`: what is kept of a
    session can be made from its transcript after it was played. `offers`: sessions get tools or files.
    `rewords`: what is kept need not be in the words of the user. `listed` are the tools, where
    they are the same for every session.
    """

    name: str = "none"
    follows: bool = True
    relearns: bool = True
    offers: bool = False
    rewords: bool = False
    listed: Sequence[Tool] = ()

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"kind": self.name}

    def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
        """The text for a prompt, None when there is nothing to show. `query` is what the session is about."""
        return statements_text(entries)

    def distil(self, entries: Sequence[Entry], session: FinishedSession) -> str:
        """What a layer that follows from transcripts keeps of a session, after these entries."""
        return ""

    async def learn(self, kept: Kept, session: FinishedSession, offer: Offer | None) -> Learned:
        """What is kept of a session; `offer` is what the session had, closed, where it was just played.

        Raises MemoryFault.
        """
        return Learned(self.distil(kept.entries, session))

    @asynccontextmanager
    async def open(self, kept: Kept) -> AsyncGenerator[Offer | None]:
        """What a session has of the memory beside its prompt. Raises MemoryFault."""
        yield None

    async def identify(self) -> Mapping[str, Any]:
        """What a memory that others made says of itself; runs are compared by it. Raises MemoryFault."""
        return {}

    async def freeze(self) -> str | None:
        """Told once when learning is over; what a memory that lives elsewhere answers."""
        return None

    def stored(self, kept: Kept) -> str | None:
        """All text that the memory holds, in whatever order; None where that cannot be told."""
        return "\n".join(entry.text for entry in kept.entries)

    def size(self, kept: Kept) -> int:
        """Bytes that the memory holds."""
        return sum(len(entry.text.encode("utf-8", "replace")) for entry in kept.entries)

    def findable(self, kept: Kept, queries: Sequence[str]) -> str | None:
        """All that a session could read: the text in the prompt of a session about any of the queries, and
        what the tools would answer to them; None where that cannot be told."""
        return "\n".join(filter(None, (self.render(kept.entries, query) for query in queries)))


def statements_text(entries: Sequence[Entry]) -> str | None:
    """What the user said outside any session. Every layer shows it in the prompt."""
    said = [entry.text for entry in entries if entry.kind == "prior"]
    parts = [f"[Prior statement {number}]\n[user]: {text}" for number, text in enumerate(said, start=1)]
    return "\n\n".join(parts) or None


def beside_statements(text: str | None, entries: Sequence[Entry]) -> str | None:
    """A layer's text, and after it what the user said outside any session."""
    return "\n\n".join(filter(None, (text, statements_text(entries)))) or None


def entries_digest(entries: Sequence[Entry]) -> str:
    """SHA-256 of a memory's content."""
    return hashlib.sha256(json.dumps([astuple(entry) for entry in entries]).encode()).hexdigest()


def seen_digest(layer: MemoryLayer, entries: Sequence[Entry], query: str = "") -> str:
    """SHA-256 of all that a session can see of a memory."""
    return hashlib.sha256(seen_text(layer, entries, query).encode()).hexdigest()


def seen_text(layer: MemoryLayer, entries: Sequence[Entry], query: str = "") -> str:
    """What a session can see of a memory: the text in its prompt and, where it is offered more than that, the
    digest of the memory's content."""
    seen = layer.render(entries, query) or ""
    return json.dumps([seen, entries_digest(entries)]) if layer.offers else seen
