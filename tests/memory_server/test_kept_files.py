"""Memories in files and in classes: what a session left is there for the next, and nothing of a test is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atr_data.trajectory import Message
from atr_memory import (
    LAYER_KINDS,
    FinishedSession,
    LayerHelp,
    MemoryFault,
    MemoryLayer,
    MemoryStore,
    StoreError,
)
from atr_memory.file_tree import digest_of, pack, texts_of, unpack
from atr_memory.layers.home import FolderOffer
from atr_memory.view import MemoryView

CLASSES = "tests.support.memory_classes"
SESSIONS = {name: FinishedSession(name, [Message(role="user", content=name)]) for name in ("s1", "s2")}


def layer(kind: str, **settings: Any) -> MemoryLayer:
    return LAYER_KINDS[kind](kind, settings, LayerHelp())


# Folders


NAMES = st.text("ab", min_size=1, max_size=3)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.tuples(NAMES, NAMES), st.binary(max_size=20), max_size=5))
def test_a_folder_comes_back_as_it_was_packed(files: dict[tuple[str, str], bytes]) -> None:
    import tempfile

    with MemoryStore() as store, tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        for (folder, name), content in files.items():
            (Path(one) / f"d{folder}").mkdir(exist_ok=True)
            (Path(one) / f"d{folder}" / name).write_bytes(content)
        packed = pack(Path(one), store)
        unpack(packed, store, Path(two))
        assert pack(Path(two), store) == packed
        assert digest_of(Path(one)) == digest_of(Path(two))
        assert all((Path(two) / f"d{folder}" / name).read_bytes() == c for (folder, name), c in files.items())


def test_programs_links_and_empty_folders_are_kept_and_what_leads_out_is_not(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    (one / "empty").mkdir(parents=True)
    two.mkdir()
    (one / "run").write_text("#!/bin/sh\n")
    (one / "run").chmod(0o755)
    (one / "in").symlink_to("run")
    (one / "out").symlink_to(tmp_path)
    (one / "empty" / "up").symlink_to("../../two")
    os.mkfifo(one / "pipe")
    (one / "mine").write_text("mine")
    with MemoryStore() as store:
        packed = pack(one, store, leave_out=["mine"])
        unpack(packed, store, two)
        assert texts_of(packed, store) == "#!/bin/sh\n"
    assert sorted(path.name for path in two.iterdir()) == ["empty", "in", "run"] or sorted(
        path.name for path in two.iterdir()
    ) == ["in", "run"]
    assert os.access(two / "run", os.X_OK) and (two / "in").read_text() == "#!/bin/sh\n"


def test_a_part_of_a_folder_can_be_packed(tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "a").write_text("a")
    (tmp_path / "keeper").write_text("b")
    with MemoryStore() as store:
        assert texts_of(pack(tmp_path, store, below=["keep"]), store) == "a"


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    with MemoryStore() as store:
        packed = pack(tmp_path, store)
        with pytest.raises(StoreError, match="cannot be written"):
            unpack(packed, store, tmp_path / "a")


# Home


async def visit(view: MemoryView, name: str, act: Callable[[Path], None]) -> None:
    async with view.open() as offer:
        assert isinstance(offer, FolderOffer) and offer.folder
        offer.leave_out |= {"work/INSTRUCTIONS.md", "tmp"}
        (offer.folder / "work" / "INSTRUCTIONS.md").write_text("do it")
        act(offer.folder)
        await view.keep(SESSIONS[name], offer)
    await view.append_session(SESSIONS[name])


async def test_an_agents_files_live_through_learning_and_each_test_has_a_copy_of_its_own() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", layer("home"))
        learned: list[Path] = []

        def first(folder: Path) -> None:
            learned.append(folder)
            _write(folder / "home" / ".agent" / "notes.md", "tea")

        def second(folder: Path) -> None:
            learned.append(folder)
            _write(folder / "work" / "plan", "trains")
            _write(folder / "tmp" / "deep" / "scratch", "of no worth")

        await visit(view, "s1", first)
        await visit(view, "s2", second)
        assert str(view.layer.stored(view.kept)).split("\n") == ["tea", "trains"]
        frozen = MemoryView(store, "cell", view.layer)
        frozen.open_snapshot(await view.freeze())
        seen: list[Path] = []

        async def test_session(writes: str) -> None:
            async with frozen.open() as offer:
                assert offer is not None and offer.folder
                seen.append(offer.folder)
                notes = offer.folder / "home" / ".agent" / "notes.md"
                assert notes.read_text() == "tea"
                await anyio.lowlevel.checkpoint()
                _write(notes, writes)
                assert await offer.writes() == int(writes != "tea")

        async with anyio.create_task_group() as tasks:
            for writes in ("coffee", "tea"):
                tasks.start_soon(test_session, writes)
        assert not seen[0].exists()
    assert seen == [learned[0]] * 2 and set(learned) == set(seen)


async def test_files_lie_at_one_path_in_each_session_of_a_cell_and_in_no_other_cell(tmp_path: Path) -> None:
    async def place(name: str) -> Path:
        (tmp_path / name).mkdir(exist_ok=True)
        with MemoryStore(tmp_path / name / "memory.sqlite") as store:
            async with MemoryView(store, "cell", layer("home")).open() as offer:
                assert offer is not None and offer.folder
                assert str(tmp_path) not in str(offer.folder)
                return offer.folder

    first = await place("a")
    (first / "work").mkdir(parents=True)
    (first / "work" / "left").write_text("by a run that was killed")
    assert await place("a") == first != await place("b")
    assert not first.exists()
    first.symlink_to(tmp_path)
    try:
        with pytest.raises(MemoryFault, match="belongs to somebody else"):
            await place("a")
        assert (tmp_path / "a").exists()
    finally:
        first.unlink()


async def test_files_that_were_not_kept_mean_that_the_session_is_played_again() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", layer("home"))
        assert not view.has_learned(SESSIONS["s1"])
        with pytest.raises(MemoryFault, match="files that s1 left are gone; it has to be played again"):
            await view.append_session(SESSIONS["s1"])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


# Classes


async def test_a_class_learns_session_by_session_and_is_read_by_what_the_session_is_about() -> None:
    counting = layer("class", path=f"{CLASSES}:Counting", options={"greeting": "met"})
    with MemoryStore() as store:
        view = MemoryView(store, "cell", counting)
        assert view.render("tea") is None
        for session in SESSIONS.values():
            await view.keep(session, None)
            await view.append_session(session)
        assert view.render("tea") == "met 2 about 'tea'"
        assert view.entries()[1].text == '["s1", "s2"]'


async def test_the_example_class_keeps_what_was_said_and_shows_what_fits() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", layer("class", path="atr_memory.example_class:Sayings"))
        for number, (asked, said) in enumerate([("Any tea?", "Green tea."), ("A seat?", "By the window.")]):
            messages = [
                Message(role="assistant", content=asked),
                Message(role="user", content=said, turn_idx=1),
            ]
            await view.append_session(FinishedSession(f"s{number}", messages))
        assert view.render("which window") == "[assistant to user]: A seat?\n[user]: By the window."
        assert "Green tea" in (view.render() or "") and view.render("ship") is None
        assert view.layer.size(view.kept) == len(view.kept.last), "what was before is in it"


async def test_the_tools_of_a_class_write_to_a_copy_that_learning_keeps_and_testing_does_not() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", layer("class", path=f"{CLASSES}:WithTools"))
        async with view.open() as offer:
            assert offer is not None and [tool.name for tool in offer.tools] == ["pin"]
            assert (await offer.call("pin", {"text": "tea"})).text == "pinned"
            await view.keep(SESSIONS["s1"], offer)
        await view.append_session(SESSIONS["s1"])
        assert json.loads(view.kept.last) == ["tea", "s1"]
        frozen = MemoryView(store, "cell", view.layer)
        frozen.open_snapshot(await view.freeze())
        async with frozen.open() as offer:
            assert offer is not None
            await offer.call("pin", {"text": "rum"})
            assert await offer.writes() == 1
            with pytest.raises(MemoryFault, match="raised an exception of which it tells nothing"):
                await offer.call("pin", {"text": "boom"})
        assert json.loads(frozen.kept.last) == ["tea", "s1"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Broken", "memory_classes:Broken: freeze raised OSError: no ink"),
        ("Wordless", "memory_classes:Wordless: freeze gave int, and not a text"),
    ],
)
async def test_what_a_class_does_wrong_is_a_fault_of_the_memory(name: str, message: str) -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", layer("class", path=f"{CLASSES}:{name}"))
        with pytest.raises(MemoryFault, match=message):
            await view.append_session(SESSIONS["s1"])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere", "is not of the form package.module:Class"),
        ("no.such.module:X", "cannot be imported: No module named 'no'"),
        (f"{CLASSES}:Nobody", "cannot be imported: .*has no attribute 'Nobody'"),
        (f"{CLASSES}:Half", "is no memory class; it lacks update, freeze"),
    ],
)
def test_a_path_that_names_no_memory_class_is_refused(path: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        layer("class", path=path)
