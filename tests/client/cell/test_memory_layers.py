"""Cells with every memory layer: learned, frozen, tested, resumed, and broken off."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from atr_client import play_episode
from atr_client.agents import OFFLINE_MODELS
from atr_client.cell.cell_runner import run_cell
from atr_client.cell.definition import Cell, CellOptions
from atr_client.cell.episode_runner import EpisodeRunner
from atr_client.errors import CellAbort, ManifestMismatch
from atr_client.models.base import ModelReply
from atr_client.outputs.layout import CellKey
from atr_client.outputs.manifest import read_manifest
from atr_client.session.memory_writer import ModelWriter
from atr_client.session.turns import SessionSettings
from atr_client.testing import FunctionModel
from atr_data import Episode, load_trajectory
from atr_data.calls import CallRecord, SessionStart, read_calls
from atr_data.trajectory import Message, ToolCall
from atr_memory import LAYER_KINDS, LayerHelp, MemoryFault, MemoryLayer, MemoryStore
from atr_memory.writer import Written
from tests.conftest import ROOT
from tests.support.cells import manifest_of, small_cell
from tests.support.telling import short_episode, telling_users

SHELF = str(ROOT / "tests" / "support" / "memory_program.py")
VARIANT = "always_ask"


def asker() -> Any:
    return OFFLINE_MODELS["offline/asker"].model()


def shelf(*fault: str) -> MemoryLayer:
    command = [sys.executable, SHELF, "{folder}/shelf.json", *fault]
    settings = {"kind": "external", "command": command, "freeze": {"copy": ["{folder}"]}, "timeout": 20}
    return LAYER_KINDS["external"]("external", settings, LayerHelp())


def of_kind(kind: str, **settings: Any) -> Callable[[], MemoryLayer]:
    def make() -> MemoryLayer:
        return LAYER_KINDS[kind](kind, settings, LayerHelp(writer=ModelWriter(asker())))

    return make


LAYERS: dict[str, Callable[[], MemoryLayer]] = {
    "none": of_kind("none"),
    "context": of_kind("context"),
    "notes": of_kind("notes"),
    "retrieval": of_kind("retrieval", top=20),
    "pushed": of_kind("retrieval", read="pushed", top=20),
    "rules": of_kind("rules"),
    "rules-model": of_kind("rules", extractor="agent"),
    "rewrite": of_kind("rewrite"),
    "class": of_kind("class", path="tests.support.memory_classes:Counting"),
    "external": shelf,
}


def cell_of(folder: Path, layer: MemoryLayer, episode: Episode | None = None, **options: Any) -> Cell:
    played = episode or short_episode(2, 1)
    key = CellKey.of(played, variant=VARIANT, model="offline/asker", layer="x", hook=False, smoke=False)
    runner = EpisodeRunner(played, VARIANT, asker(), telling_users(), SessionSettings())
    return Cell(
        key,
        played,
        key.folder(folder),
        manifest_of(key, played),
        runner,
        CellOptions(**options),
        memory=layer,
    )


@pytest.mark.parametrize("name", LAYERS)
async def test_what_was_told_is_kept_as_the_layer_keeps_it_and_a_second_run_finds_nothing_to_do(
    tmp_path: Path, name: str
) -> None:
    result = await run_cell(cell_of(tmp_path, LAYERS[name](), short_episode(), test_sessions=2))
    assert result.row["verified"] is True
    tests = [t for t in result.trajectories if t.session_type == "test"]
    kept = [(t.retention.stored, t.retention.findable, t.rule_readable) for t in tests if t.retention]
    if name in ("none", "class"):
        assert kept == [(False, False, False)] * 2
    elif name == "external":
        assert kept == [(True, None, True)] * 2
    else:
        assert kept == [(True, True, True)] * 2
    evaluation = json.loads((cell_of(tmp_path, LAYERS[name]()).folder.evaluation).read_text())
    retained = evaluation["companions"]["retained"]
    assert (retained["heard"], retained["stored"]) == (2, sum(stored is True for stored, _, _ in kept))
    assert evaluation["companions"]["memory"]["tests"] == 2
    manifest = read_manifest(cell_of(tmp_path, LAYERS[name]()).folder.manifest)
    assert manifest and len(manifest["memory_snapshot"]) == 32
    assert (await run_cell(cell_of(tmp_path, LAYERS[name](), short_episode()))).skipped


@pytest.mark.parametrize("name", ["notes", "rewrite", "external"])
async def test_a_run_that_was_killed_goes_on_with_the_memory_that_it_had(tmp_path: Path, name: str) -> None:
    whole = await run_cell(cell_of(tmp_path / "whole", LAYERS[name]()))
    cell = cell_of(tmp_path / "killed", LAYERS[name]())
    await run_cell(cell)
    for session in [*cell.episode.ordered_learning_sessions()[1:], *cell.episode.test_sessions]:
        cell.folder.trajectory(session.session_id).unlink()
    again = cell_of(tmp_path / "killed", LAYERS[name]())
    result = await run_cell(again)
    assert [t.session_id for t in result.trajectories] == [t.session_id for t in whole.trajectories]
    starts = [r.tool for r in read_calls(again.folder.calls) if isinstance(r, CallRecord)]
    assert "freeze" in starts and result.row["verified"] is True


async def test_a_model_that_writes_is_not_asked_again_when_the_run_goes_on(tmp_path: Path) -> None:
    class Counting:
        times = 0

        async def write(self, instructions: str, material: str) -> Written:
            Counting.times += 1
            return Written(f"text {Counting.times}")

    def layer() -> MemoryLayer:
        return LAYER_KINDS["rewrite"]("rewrite", {}, LayerHelp(writer=Counting()))

    await run_cell(cell_of(tmp_path, layer()))
    assert Counting.times == 2
    cell = cell_of(tmp_path, layer())
    cell.folder.trajectory(cell.episode.test_sessions[0].session_id).unlink()
    result = await run_cell(cell)
    assert Counting.times == 2 and not result.skipped
    assert "text 2" in str(result.trajectories[-1].messages[0].content)


async def test_what_was_tested_on_a_memory_that_only_played_sessions_make_is_not_tested_again(
    tmp_path: Path,
) -> None:
    class OfTools(MemoryLayer):
        follows = relearns = False

    cell = cell_of(tmp_path, OfTools(), short_episode(1, 2))
    await run_cell(cell)
    cell.folder.done.unlink()
    await run_cell(cell_of(tmp_path, OfTools(), short_episode(1, 2)))
    started = [record for record in read_calls(cell.folder.calls) if isinstance(record, SessionStart)]
    assert len(started) == 3


async def test_when_the_files_of_a_session_are_gone_it_is_played_again(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, shelf())
    await run_cell(cell)
    first = cell.folder.trajectory(cell.episode.ordered_learning_sessions()[0].session_id)
    before = load_trajectory(first)
    cell.folder.memory.unlink()
    cell.folder.done.unlink()
    with pytest.raises(CellAbort):
        await run_cell(cell_of(tmp_path, shelf("--dies")))
    assert not first.exists(), "what is there belongs to the latest attempt"
    await run_cell(cell_of(tmp_path, shelf()))
    assert load_trajectory(first).messages[0].timestamp != before.messages[0].timestamp


async def test_a_damaged_store_is_said_and_fresh_starts_over(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, shelf())
    await run_cell(cell)
    cell.folder.done.unlink()
    cell.folder.memory.write_bytes(cell.folder.memory.read_bytes()[:700])
    with pytest.raises(CellAbort, match=r"memory failed .*memory\.sqlite: .*; --fresh starts the cell over"):
        await run_cell(cell_of(tmp_path, shelf()))
    assert (await run_cell(cell_of(tmp_path, shelf(), fresh=True))).row["ok"]


async def test_a_store_that_another_process_has_locked_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = cell_of(tmp_path, shelf())
    cell.folder.create()
    monkeypatch.setattr("atr_client.cell.cell_memory.MemoryStore", partial(MemoryStore, lock_seconds=0.1))
    other = sqlite3.connect(cell.folder.memory, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(CellAbort, match="another process has locked the memory store"):
            await run_cell(cell)
    finally:
        other.close()


async def test_another_server_or_other_words_refuse_to_go_on(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, shelf())
    await run_cell(cell)
    manifest = read_manifest(cell.folder.manifest)
    assert manifest and manifest["memory_server"]["server"] == "shelf"
    cell.folder.done.unlink()
    with pytest.raises(ManifestMismatch, match="made with another memory server: tools_sha256 was"):
        await run_cell(cell_of(tmp_path, shelf("--wordy")))
    await run_cell(cell_of(tmp_path, shelf("--wordy"), allow_stale_resume=True))
    manifest = read_manifest(cell.folder.manifest)
    assert manifest and "memory_server" in manifest["stale_fields"]


class Named(MemoryLayer):
    """A memory that says what it is, or cannot be reached."""

    def __init__(self, **names: Any) -> None:
        self.names = names

    async def identify(self) -> dict[str, Any]:
        if not self.names:
            raise MemoryFault("nobody there")
        return self.names


async def test_what_a_memory_says_of_itself_is_noted_and_held_to(tmp_path: Path) -> None:
    def cell(layer: MemoryLayer, **fields: Any) -> Cell:
        return replace(small_cell(tmp_path, **fields), memory=layer)

    async def noted(layer: MemoryLayer, **fields: Any) -> tuple[Any, Any]:
        await run_cell(cell(layer, **fields))
        manifest = read_manifest(cell(layer).folder.manifest)
        assert manifest
        cell(layer).folder.done.unlink()
        return manifest["memory_server"], manifest["stale_fields"]

    with pytest.raises(CellAbort, match="memory failed in session l0: nobody there"):
        await run_cell(cell(Named()))
    first = Named(server="shelf", version=1, tools="x")
    assert await noted(first) == (first.names, [])
    assert await noted(first) == (first.names, [])
    second = Named(server="shelf", version=2, size=3)
    told = "size was None, is 3; tools was x, is None; version was 1, is 2"
    with pytest.raises(ManifestMismatch, match=f"another memory server: {told}") as caught:
        await run_cell(cell(second))
    assert caught.value.fields == ("memory_server",)
    passing = CellOptions(allow_stale_resume=True)
    stale = ["max_steps", "memory_server"]
    assert await noted(second, max_steps=5, options=passing) == (second.names, stale)


async def test_what_a_server_writes_as_it_ends_is_kept(tmp_path: Path) -> None:
    result = await run_cell(cell_of(tmp_path, shelf("--tardy")))
    (test,) = [t for t in result.trajectories if t.session_type == "test"]
    assert test.retention and test.retention.stored is True
    assert result.row["verified"] is True


@pytest.mark.parametrize("fault", ["--masked", "--dies", "--loses"])
async def test_a_server_that_breaks_leaves_no_score(tmp_path: Path, fault: str) -> None:
    cell = cell_of(tmp_path, shelf(fault))
    with pytest.raises(CellAbort, match="memory failed in session dashiell_okonjo_s00"):
        await run_cell(cell)
    assert not cell.folder.evaluation.exists() and not list(cell.folder.trajectories.iterdir())


async def test_a_full_disk_is_said_and_the_run_goes_on_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = MemoryStore.put_learned
    left = [1]

    def full(self: MemoryStore, key: str, text: str) -> None:
        if not left[0]:
            raise self._failure(
                sqlite3.OperationalError("database or disk is full"), "the memory store failed"
            )
        left[0] -= 1
        real(self, key, text)

    monkeypatch.setattr(MemoryStore, "put_learned", full)
    cell = cell_of(tmp_path, shelf())
    with pytest.raises(CellAbort, match="the memory store failed: database or disk is full"):
        await run_cell(cell)
    assert len(list(cell.folder.trajectories.glob("*.json"))) == 1
    monkeypatch.setattr(MemoryStore, "put_learned", real)
    assert (await run_cell(cell_of(tmp_path, shelf()))).row["ok"]


async def test_64_test_sessions_read_one_snapshot_at_once() -> None:
    episode = short_episode(2, 1)
    test = episode.test_sessions[0]
    many = [test.model_copy(update={"session_id": f"t{number}"}) for number in range(64)]

    async def looks(messages: Any, tools: Any) -> ModelReply:
        if any(tool.name == "send_to_user" for tool in tools):
            return await asker().respond(messages, tools)
        searched = {"query": "mother classroom usually handle"}
        calls = [ToolCall(id="a", name="memory_search", arguments=searched)]
        done = any(message.role == "tool" for message in messages)
        return ModelReply(tool_calls=[ToolCall(id="f", name="finish_session")] if done else calls)

    played = await play_episode(
        episode.model_copy(update={"test_sessions": many}),
        VARIANT,
        FunctionModel(looks),
        user=telling_users(),
        memory="notes",
        at_once=64,
    )
    tests = [t for t in played.trajectories if t.session_type == "test"]
    assert len(tests) == 64 and len({t.context_sha256 for t in tests}) == 1
    assert all(t.rule_readable for t in tests)


def calls_memory_once(*calls: ToolCall) -> Any:
    """Says goodbye while the user is there; in a test makes these calls, and ends."""

    def respond(messages: Any, tools: Any) -> ModelReply:
        if not any(tool.name == "finish_session" for tool in tools):
            said = {"output": "Goodbye.", "reason": "r"}
            return ModelReply(tool_calls=[ToolCall(id="c", name="send_to_user", arguments=said)])
        if any(message.role == "tool" for message in messages):
            return ModelReply(tool_calls=[ToolCall(id="f", name="finish_session")])
        return ModelReply(tool_calls=list(calls))

    return respond


async def test_what_a_test_writes_is_counted_and_not_kept() -> None:

    writes = calls_memory_once(
        ToolCall(id="a", name="memory_list"),
        ToolCall(id="b", name="memory_save", arguments={"text": "mine"}),
    )

    played = await play_episode(short_episode(1, 2), "default", FunctionModel(writes), memory="notes")
    tests = [t for t in played.trajectories if t.session_type == "test"]
    assert [t.memory_use.discarded_writes for t in tests if t.memory_use] == [1, 1]
    listed: list[Message] = [next(m for m in t.messages if m.role == "tool") for t in tests]
    assert [json.loads(m.content or "")["count"] for m in listed] == [0, 0]


async def test_a_session_tells_how_much_its_memory_held_when_it_began() -> None:
    def notes(messages: Any, tools: Any) -> ModelReply:
        named = next((tool.name for tool in tools if tool.name in ("send_to_user", "finish_session")), "")
        said = {"output": "Goodbye.", "reason": "r"} if named == "send_to_user" else {}
        save = ToolCall(id="s", name="memory_save", arguments={"text": "Tea at four."})
        done = any(message.role == "tool" for message in messages)
        return ModelReply(tool_calls=[ToolCall(id="e", name=named, arguments=said) if done else save])

    played = await play_episode(short_episode(2, 1), "default", FunctionModel(notes), memory="notes")
    held = [t.memory_use.stored_bytes for t in played.trajectories if t.memory_use]
    one_note = held[1]
    assert one_note >= len("Tea at four.")
    assert held == [0, one_note, 2 * one_note]


@pytest.mark.parametrize("layer", ["context", "none"])
async def test_what_a_prompt_is_given_of_the_memory_is_counted_in_characters(layer: str) -> None:
    played = await play_episode(short_episode(2, 1), VARIANT, asker(), user=telling_users(), memory=layer)
    shown = ""
    for trajectory in played.trajectories:
        _, _, rest = (trajectory.messages[0].content or "").partition("<context>\n")
        shown = rest.rpartition("\n</context>")[0]
        assert trajectory.memory_use and trajectory.memory_use.pushed_characters == len(shown)
    assert bool(shown) == (layer == "context")


async def test_a_memory_call_that_could_not_be_read_is_answered_by_the_harness(tmp_path: Path) -> None:
    garbles = calls_memory_once(
        ToolCall(id="a", name="memory_list"),
        ToolCall(id="b", name="memory_save", parse_error="not JSON", raw_arguments='{"te'),
    )

    log = tmp_path / "calls.jsonl"
    await play_episode(short_episode(1, 1), "default", FunctionModel(garbles), memory="notes", log=log)
    calls = [r for r in read_calls(log) if isinstance(r, CallRecord) and r.caller == "agent"]
    assert [(r.tool, r.is_error, r.note, r.raw_arguments) for r in calls] == [
        ("memory_list", False, None, None),
        ("memory_save", True, "answered by the harness", '{"te'),
    ]


async def test_a_memory_tool_with_a_name_of_the_session_gets_another_one() -> None:
    episode = short_episode(1, 1)
    offered: list[str] = []

    def look(messages: Any, tools: Any) -> Any:
        offered.extend(tool.name for tool in tools)
        raise MemoryFault("enough")

    workspace = episode.learning_sessions[0].model_copy(
        update={
            "domain": "workspace",
            "local_env": episode.learning_sessions[0].local_env.model_copy(
                update={"tools": ["list_files"], "references": []}
            ),
        }
    )
    one = episode.model_copy(update={"learning_sessions": [workspace]})
    with pytest.raises(CellAbort, match="enough"):
        await play_episode(one, "default", FunctionModel(look), memory=shelf())
    assert {"list_files", "memory_list_files", "remember", "recall"} <= set(offered)
