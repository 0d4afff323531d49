"""Notes: what an agent writes by tools is there in later sessions, and nothing else is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atr_data.trajectory import Message, ToolCall
from atr_memory import LAYER_KINDS, FinishedSession, Kept, LayerHelp, MemoryStore
from atr_memory.layers.notes import MOST_NOTES, Notebook, Notes
from atr_memory.store import Entry
from atr_memory.tool_server import Refusal
from atr_memory.view import MemoryView

NOTES = LAYER_KINDS["notes"]("notes", {}, LayerHelp())


async def session(view: MemoryView, name: str, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """A learning session that makes some calls, and what was answered."""
    messages: list[Message] = []
    answers: list[Any] = []
    async with view.open() as offer:
        assert offer is not None
        for number, (tool, arguments) in enumerate(calls):
            answer = await offer.call(tool, arguments)
            answers.append(json.loads(answer.text))
            call = ToolCall(id=f"c{number}", name=tool, arguments=arguments)
            messages.append(Message(role="assistant", tool_calls=[call]))
            messages.append(
                Message(role="tool", content=answer.text, tool_call_id=call.id, tool_error=answer.is_error)
            )
    await view.append_session(FinishedSession(name, messages))
    return answers


async def test_notes_are_saved_changed_deleted_searched_and_listed() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", NOTES)
        saved = await session(
            view,
            "s1",
            ("memory_save", {"text": "tea, never coffee"}),
            ("memory_save", {"text": "trains before planes"}),
            ("memory_save", {"text": "gone soon"}),
        )
        assert [answer["note_id"] for answer in saved] == ["note_1", "note_2", "note_3"]
        await session(
            view,
            "s2",
            ("memory_update", {"note_id": "note_1", "text": "coffee after all"}),
            ("memory_delete", {"note_id": "note_3"}),
        )
        again, found, listed, whole = await session(
            view,
            "s3",
            ("memory_save", {"text": "x" * 200}),
            ("memory_search", {"query": "which train?"}),
            ("memory_list", {}),
            ("memory_get", {"note_id": "note_4"}),
        )
    assert again == {"note_id": "note_4"}, "ids are never used again"
    assert found == {"count": 1, "notes": [{"note_id": "note_2", "text": "trains before planes"}]}
    assert [note["note_id"] for note in listed["notes"]] == ["note_1", "note_2", "note_4"]
    assert listed["notes"][2]["beginning"] == "x" * 80 and whole["text"] == "x" * 200


async def test_what_a_session_that_broke_off_wrote_is_not_there() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", NOTES)
        async with view.open() as offer:
            assert offer is not None
            await offer.call("memory_save", {"text": "tea"})
        (listed,) = await session(view, "s1", ("memory_list", {}))
        assert listed["count"] == 0 and view.entries() == ()


async def test_writes_to_a_snapshot_are_counted_and_seen_by_nobody_else() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", NOTES)
        await session(view, "s1", ("memory_save", {"text": "tea"}))
        frozen = MemoryView(store, "cell", NOTES)
        frozen.open_snapshot(await view.freeze())
        async with frozen.open() as one, frozen.open() as other:
            assert one is not None and other is not None
            await one.call("memory_delete", {"note_id": "note_1"})
            await one.call("memory_save", {"text": "coffee"})
            assert (await one.writes(), await other.writes()) == (2, 0)
            assert json.loads((await other.call("memory_list", {})).text)["count"] == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("memory_get", {"note_id": "note_9"}, "there is no note 'note_9'; `memory_list` names"),
        ("memory_update", {"note_id": "note_9", "text": "x"}, "there is no note 'note_9'"),
        ("memory_save", {"text": ""}, "argument text: .*at least 1 character"),
        ("memory_save", {"text": "x" * 4001}, "argument text: .*at most 4000 characters"),
        ("memory_save", {}, "argument text: Field required"),
        ("memory_search", {"query": "x", "limit": "5"}, "argument limit: .*integer, got '5'"),
        ("memory_forget", {}, "Unknown tool: memory_forget"),
    ],
)
async def test_a_bad_call_is_the_agents_error_and_changes_nothing(
    tool: str, arguments: dict[str, Any], message: str
) -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", NOTES)
        (answer,) = await session(view, "s1", (tool, arguments))
        assert view.entries() == ()
    assert re.search(message, answer["error"])


def test_there_is_a_limit_to_notes() -> None:
    book = Notebook()
    for number in range(MOST_NOTES):
        book.save(str(number))
    with pytest.raises(Refusal, match="there are 500 notes already"):
        book.save("one more")


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["save", "update", "delete"]), st.integers(1, 5), st.text(max_size=9)),
    max_size=15,
)


@settings(max_examples=40)
@given(st.lists(OPERATIONS, max_size=4))
def test_the_notes_after_some_sessions_are_what_a_dictionary_would_hold(
    sessions: list[list[tuple[str, int, str]]],
) -> None:
    expected: dict[str, str] = {}
    entries: list[Entry] = []
    made = 0
    for number, operations in enumerate(sessions):
        book = Notebook.of(entries)
        for what, which, text in operations:
            note = f"note_{which}"
            if what == "save":
                made += 1
                expected[book.save(text)] = text
            elif note in expected and what == "update":
                book.update(note, text)
                expected[note] = text
            elif note in expected:
                book.delete(note)
                del expected[note]
        if book.changes:
            entries.append(Entry("session", json.dumps(book.changes), f"s{number}"))
        assert Notebook.of(entries).notes == expected


def test_stored_and_findable_are_the_texts_of_the_notes() -> None:
    entries = [Entry("session", json.dumps([["save", "note_1", "tea"]]), "s1"), Entry("prior", "brass")]
    with MemoryStore() as store:
        kept = Kept(entries, store)
        assert Notes().stored(kept) == Notes().findable(kept, ["anything"]) == "tea\nbrass"
        assert Notes().render(entries) == "[Prior statement 1]\n[user]: brass"


def test_every_tool_says_whether_it_changes_anything() -> None:
    hints: Mapping[str, bool | None] = {
        tool.name: tool.annotations.read_only_hint for tool in Notes.listed if tool.annotations
    }
    assert hints == {
        "memory_save": False,
        "memory_update": False,
        "memory_delete": False,
        "memory_search": True,
        "memory_list": True,
        "memory_get": True,
    }
