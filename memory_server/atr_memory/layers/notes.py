"""Notes that the agent itself writes, changes, deletes and searches, by tools."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic import Field, ValidationError

from atr_data.trajectory import Message, ToolCall
from atr_memory.layer import FinishedSession, Kept, MemoryLayer, Offer
from atr_memory.served_tools import served
from atr_memory.store import Entry
from atr_memory.text_search import ranked
from atr_memory.tool_server import Arguments, MemoryTool, Refusal, build_tool_server, listed_tools

LONGEST_NOTE = 4000
MOST_NOTES = 500
_BEGINNING = 80
_INSTRUCTIONS = """\
Notes that outlive this session. What is written in a session with the user can be read in all later ones."""


class Notebook:
    """Notes by id; ids are never used again. Raises Refusal for what cannot be done."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}
        self.changes: list[list[str]] = []
        self._made = 0

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Notebook:
        """The notes after some sessions, each of which has left the changes that it made."""
        book = cls()
        for entry in entries:
            if entry.kind == "session":
                for change in json.loads(entry.text):
                    book.apply(*change)
        book.changes = []
        return book

    def apply(self, what: str, note_id: str, text: str = "") -> None:
        if what == "save":
            self._made += 1
            self.notes[note_id] = text
        elif what == "update":
            self.notes[note_id] = text
        else:
            del self.notes[note_id]
        self.changes.append([what, note_id, text])

    def save(self, text: str) -> str:
        if len(self.notes) >= MOST_NOTES:
            raise Refusal(f"there are {MOST_NOTES} notes already; delete or update one")
        note_id = f"note_{self._made + 1}"
        self.apply("save", note_id, text)
        return note_id

    def update(self, note_id: str, text: str) -> None:
        self._check(note_id)
        self.apply("update", note_id, text)

    def delete(self, note_id: str) -> None:
        self._check(note_id)
        self.apply("delete", note_id)

    def get(self, note_id: str) -> str:
        self._check(note_id)
        return self.notes[note_id]

    def search(self, query: str, limit: int) -> list[dict[str, str]]:
        ids = list(self.notes)
        found = ranked(list(self.notes.values()), query, limit)
        return [{"note_id": ids[position], "text": self.notes[ids[position]]} for position in found]

    def _check(self, note_id: str) -> None:
        if note_id not in self.notes:
            raise Refusal(f"there is no note {note_id!r}; `memory_list` names those that there are")


class _Save(Arguments):
    text: str = Field(min_length=1, max_length=LONGEST_NOTE, description="What to remember, in full.")


class _Update(_Save):
    note_id: str = Field(
        description="Id of the note, as `memory_save`, `memory_search` or `memory_list` say."
    )


class _Named(Arguments):
    note_id: str = Field(description="Id of the note.")


class _Search(Arguments):
    query: str = Field(min_length=1, description="Words that the note may hold.")
    limit: int = Field(default=5, ge=1, le=50, description="How many notes to answer with at most.")


class _Nothing(Arguments):
    pass


def _save(book: Notebook, arguments: _Save) -> dict[str, Any]:
    return {"note_id": book.save(arguments.text)}


def _update(book: Notebook, arguments: _Update) -> dict[str, Any]:
    book.update(arguments.note_id, arguments.text)
    return {"note_id": arguments.note_id}


def _delete(book: Notebook, arguments: _Named) -> dict[str, Any]:
    book.delete(arguments.note_id)
    return {"deleted": arguments.note_id}


def _search(book: Notebook, arguments: _Search) -> dict[str, Any]:
    found = book.search(arguments.query, arguments.limit)
    return {"count": len(found), "notes": found}


def _list(book: Notebook, arguments: _Nothing) -> dict[str, Any]:
    listed = [{"note_id": i, "beginning": text[:_BEGINNING]} for i, text in book.notes.items()]
    return {"count": len(listed), "notes": listed}


def _get(book: Notebook, arguments: _Named) -> dict[str, Any]:
    return {"note_id": arguments.note_id, "text": book.get(arguments.note_id)}


TOOLS: Mapping[str, MemoryTool] = {
    "memory_save": MemoryTool(
        "Save a note", "Write a note that later sessions can read.", _Save, _save, idempotent=False
    ),
    "memory_update": MemoryTool("Change a note", "Replace the text of a note.", _Update, _update),
    "memory_delete": MemoryTool("Delete a note", "It is gone for good.", _Named, _delete, destructive=True),
    "memory_search": MemoryTool(
        "Search the notes", "The notes that share most words with a query.", _Search, _search, read_only=True
    ),
    "memory_list": MemoryTool(
        "List the notes", "All notes, each by its id and its beginning.", _Nothing, _list, read_only=True
    ),
    "memory_get": MemoryTool("Read a note", "The whole text of one note.", _Named, _get, read_only=True),
}
_WRITING: Mapping[str, type[Arguments]] = {
    name: TOOLS[name].arguments for name in ("memory_save", "memory_update", "memory_delete")
}


class Notes(MemoryLayer):
    """What a session leaves are the changes that it made, in order; they are read off its transcript, so a
    session that broke off leaves none."""

    name = "notes"
    offers = True
    rewords = True
    listed = tuple(listed_tools(TOOLS))

    def distil(self, entries: Sequence[Entry], session: FinishedSession) -> str:
        book = Notebook.of(entries)
        for call in _carried_out(session.messages):
            arguments = _WRITING[call.name].model_validate(call.arguments, strict=True)
            TOOLS[call.name].run(book, arguments)
        return json.dumps(book.changes, ensure_ascii=False) if book.changes else ""

    @asynccontextmanager
    async def open(self, kept: Kept) -> AsyncGenerator[Offer | None]:
        book = Notebook.of(kept.entries)
        server = build_tool_server("atr-notes", _INSTRUCTIONS, TOOLS, book)
        async with served(server, count_writes=lambda: len(book.changes)) as offer:
            yield offer

    def stored(self, kept: Kept) -> str:
        notes = Notebook.of(kept.entries).notes.values()
        return "\n".join([*notes, *(entry.text for entry in kept.entries if entry.kind == "prior")])

    def findable(self, kept: Kept, queries: Sequence[str]) -> str | None:
        """Every note can be listed and read."""
        return self.stored(kept)


def _carried_out(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls that changed notes, in order. One whose arguments do not fit was refused when it was made."""
    accepted = {m.tool_call_id for m in messages if m.role == "tool" and not m.tool_error}
    return [
        call
        for message in messages
        for call in message.tool_calls or ()
        if call.name in _WRITING and call.id in accepted and _fits(call)
    ]


def _fits(call: ToolCall) -> bool:
    try:
        _WRITING[call.name].model_validate(call.arguments, strict=True)
    except ValidationError:
        return False
    return True
