"""A third party's memory server: each session its own process and files, and faults that are no score."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest

from atr_data.trajectory import Message, ToolCall
from atr_memory import FinishedSession, MemoryFault, MemoryLayer, MemoryStore, StoreError
from atr_memory.layer import Answer
from atr_memory.layers.external import External, ServerSpec
from atr_memory.layers.server_answers import broken
from atr_memory.view import MemoryView
from tests.conftest import ROOT

PROGRAM = str(ROOT / "tests" / "support" / "memory_program.py")


def shelf(*fault: str, patience: float = 20.0, **spec: Any) -> MemoryLayer:
    command = [sys.executable, PROGRAM, "{folder}/shelf.json", *fault]
    return External(ServerSpec(command, patience=patience, **spec), {"kind": "external", "command": command})


@cache
def finished(name: str) -> FinishedSession:
    said = ToolCall(id="c", name="remember", arguments={"text": name})
    return FinishedSession(name, [Message(role="assistant", tool_calls=[said], turn_idx=1)])


async def lived(view: MemoryView, name: str, *texts: str) -> Sequence[str]:
    """A learning session that remembers some texts; returns what it could recall at its beginning."""
    async with view.open() as offer:
        assert offer is not None
        before = (await offer.call("recall", {"query": "tea bread"})).text
        for text in texts:
            assert (await offer.call("remember", {"text": text})).text == "kept"
        await offer.close()
        await view.keep(finished(name), offer)
    assert await view.append_session(finished(name))
    return before


async def test_each_session_goes_on_with_the_files_that_the_one_before_left() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", shelf())
        assert await lived(view, "s1", "I drink tea") == "[]"
        assert await lived(view, "s2", "bread at nine") == '["I drink tea"]'
        stored = view.layer.stored(view.kept)
        assert stored and "tea" in stored and "bread" in stored


async def test_what_a_test_session_writes_is_gone_and_no_other_sees_it() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", shelf())
        await lived(view, "s1", "I drink tea")
        frozen = MemoryView(store, "cell", view.layer)
        frozen.open_snapshot(await view.freeze())
        async with frozen.open() as one, frozen.open() as other:
            assert one is not None and other is not None
            assert one.folder != other.folder
            await one.call("remember", {"text": "tea with milk"})
            assert (await other.call("recall", {"query": "tea"})).text == '["I drink tea"]'
            assert (await one.writes(), await other.writes()) == (1, 0)
        async with frozen.open() as later:
            assert later is not None
            assert (await later.call("recall", {"query": "tea"})).text == '["I drink tea"]'


async def test_a_session_that_broke_off_leaves_nothing() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", shelf())
        async with view.open() as offer:
            assert offer is not None
            await offer.call("remember", {"text": "I drink tea"})
        assert view.entries() == () and not view.has_learned(finished("s1"))
        with pytest.raises(MemoryFault, match="files after s1 are gone; it has to be played again"):
            await view.append_session(finished("s1"))


@pytest.mark.parametrize(
    ("fault", "tool", "message"),
    [
        ("--dies", "remember", r"remember: .*it said: .*out of paper"),
        ("--masked", "remember", "told of an error as if there were none: Error: the shelf is full"),
        ("--late", "recall", r"recall: .*[Tt]imed out"),
    ],
)
async def test_a_server_that_breaks_is_a_fault_of_the_memory(fault: str, tool: str, message: str) -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", shelf(fault, patience=1.5 if fault == "--late" else 20.0))
        async with view.open() as offer:
            assert offer is not None
            with pytest.raises(MemoryFault, match=message):
                await offer.call(tool, {"text": "x", "query": "x"})


async def test_a_lost_write_is_a_fault_of_the_memory() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", shelf("--loses"))
        with pytest.raises(MemoryFault, match="a write was lost: I drink tea"):
            await lived(view, "s1", "I drink tea")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program", "{folder}"], "no-such-program|No such file"),
        ([sys.executable, "-c", "import sys; sys.exit('{folder} is haunted')"], "is haunted"),
        ([sys.executable, PROGRAM, "{folder}/x", "--mute"], "the memory server: .*[Tt]imed out"),
    ],
)
async def test_a_server_that_does_not_start_says_why(command: list[str], message: str) -> None:
    layer = External(ServerSpec(command, patience=1.0), {"kind": "external"})
    with pytest.raises(MemoryFault, match=message):
        await layer.identify()


async def test_a_damaged_store_is_never_an_answer() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", shelf())
        async with view.open() as offer:
            assert offer is not None and offer.folder is not None
            (offer.folder / "shelf.json").write_text('["I drink te')
            with pytest.raises(MemoryFault, match="its store is damaged or out of reach: Unterm"):
                await offer.call("recall", {"query": "tea"})


async def test_files_that_were_changed_in_the_store_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    with MemoryStore(path) as store:
        view = MemoryView(store, "cell", shelf())
        await lived(view, "s1", "I drink tea")
        snapshot = await view.freeze()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE blobs SET content = ?", (b'["I drink coffee"]',))
    connection.close()
    with MemoryStore(path) as store:
        view = MemoryView(store, "cell", shelf())
        view.open_snapshot(snapshot)
        with pytest.raises(StoreError, match="of a remembered file is damaged"):
            async with view.open():
                pass


async def test_tools_are_listed_over_all_pages_and_their_wording_counts() -> None:
    plain, wordy, paged = [await shelf(*fault).identify() for fault in ((), ("--wordy",), ("--paged",))]
    assert (plain["server"], plain["version"], plain["tools"]) == ("shelf", "7", 3)
    assert plain["tools_sha256"] != wordy["tools_sha256"]
    assert paged["tools_sha256"] == plain["tools_sha256"]


async def test_sessions_side_by_side_have_a_process_each() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", shelf())
        await lived(view, "s1", "I drink tea")
        frozen = MemoryView(store, "cell", view.layer)
        frozen.open_snapshot(await view.freeze())
        found: list[str] = []

        async def session() -> None:
            async with frozen.open() as offer:
                assert offer is not None
                found.append((await offer.call("recall", {"query": "tea"})).text)

        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(session)
        assert found == ['["I drink tea"]'] * 4


@pytest.mark.parametrize(
    ("text", "is_error", "fault"),
    [
        ("Entity Kim not found", True, False),
        ("Error: entity Kim not found", False, False),
        ('{"success": false, "message": "id must be a number"}', False, False),
        ("Error executing tool: SQLITE_BUSY: database is locked", True, True),
        ("SqliteError: database disk image is malformed", True, True),
        ("Unexpected token } in JSON at position 31", True, True),
        ("ENOSPC: no space left on device, write", True, True),
        ("Failed to write the note", False, True),
        ('{"error": "disk quota"}', False, True),
        ('{"error": null, "notes": []}', False, False),
        ("The user keeps a corrupt database of jokes", False, False),
    ],
)
def test_what_an_answer_tells_of_the_server(text: str, is_error: bool, fault: bool) -> None:
    assert (broken("tool", Answer(text, is_error)) is not None) is fault


async def test_a_memory_that_is_not_copied_is_marked_and_needs_a_place() -> None:
    layer = shelf(copies=None)
    assert layer.settings["control"] == "uncontrolled"
    with MemoryStore() as store, pytest.raises(MemoryFault, match="needs a cell on disk"):
        async with MemoryView(store, "cell", layer).open():
            pass


def test_what_may_be_secret_is_recorded_by_its_digest() -> None:
    settings = {"kind": "external", "url": "http://user:pw@h.example/mcp?key=1", "env": {"KEY": "s3cret"}}
    recorded = str(External(ServerSpec(url=settings["url"], copies=None), settings).settings)
    assert "s3cret" not in recorded and "pw" not in recorded and "key=1" not in recorded
