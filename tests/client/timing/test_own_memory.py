"""Memory `own`: an agent fills the memory server in a pass over the past, and reads it in every sitting."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atr_client.errors import ModelError
from atr_client.models.base import AgentModel, ModelReply, ToolSpec
from atr_client.sweep.endpoints import ModelClients
from atr_client.timing.timing_cell import TimingCell, run_timing_cell
from atr_client.timing.timing_config import TimingConfig
from atr_client.timing.timing_plan import plan_timing
from atr_client.timing.timing_set import TimingSet
from atr_data import load_trajectory
from atr_data.trajectory import Message, ToolCall
from tests.support.timing_sets import saved_set


class NoteTaker:
    """Notes how often help was sought on each day, then offers nothing; fails where it is told to."""

    def __init__(self, fails_in: str | None = None) -> None:
        self.fails_in = fails_in
        self.contexts: dict[str, str] = {}

    def agent(self, session_id: str) -> AgentModel:
        return _Agent(self, session_id)


class _Agent:
    def __init__(self, taker: NoteTaker, session_id: str) -> None:
        self.taker, self.session_id = taker, session_id

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        if self.session_id == self.taker.fails_in:
            raise ModelError("gone")
        self.taker.contexts[self.session_id] = messages[0].content or ""
        last, turn = messages[-1], len(messages)
        names = [tool.name for tool in tools]
        if self.session_id.startswith("day"):
            if last.role == "tool":
                return ModelReply("Noted.")
            asked = (last.content or "").count("self_help")
            return _call(turn, "remember", {"note": f"{self.session_id}: {asked} times"})
        if last.role != "tool":
            return _call(turn, "start_sitting", {})
        answer = json.loads(last.content or "")
        if "current" not in answer:
            return _call(turn, "stay_silent", {"event_id": self._first(messages)})
        if "instructions" in answer and "remember" in names:
            return _call(turn, "remember", {"note": f"sat through {self.session_id}"})
        return _call(turn, "stay_silent", {"event_id": answer["current"]["event_id"], "for_events": 10})

    def _first(self, messages: Sequence[Message]) -> str:
        answers = [json.loads(m.content or "{}") for m in messages if m.role == "tool"]
        return next(a["current"]["event_id"] for a in reversed(answers) if a.get("current"))


def _call(turn: int, name: str, arguments: dict[str, Any]) -> ModelReply:
    return ModelReply(tool_calls=[ToolCall(id=f"c{turn}", name=name, arguments=arguments)])


def cell_of(folder: Path, taker: NoteTaker, **keys: Any) -> TimingCell:
    chosen = TimingSet.load(saved_set(folder / "set", 1))
    config = TimingConfig.model_validate(
        {"name": "x", "track": "timing", "models": ["offline/never"], "memory": "own", **keys}
    )
    (cell,) = plan_timing(config, chosen, folder / "out", ModelClients(config.limits))
    return replace(cell, agents=lambda: taker.agent, settings=replace(cell.settings, notes=True))


async def test_notes_of_the_past_are_carried_into_every_sitting(tmp_path: Path) -> None:
    taker = NoteTaker()
    row = await run_timing_cell(cell_of(tmp_path, taker))
    assert (row["ok"], row["sittings"], row["notes"]) == (True, 3, 19)
    days = [name for name in taker.contexts if name.startswith("day")]
    assert len(days) == 16
    assert "<context>" not in taker.contexts["day-01"]
    assert "day-01: " in taker.contexts["day-02"]
    first, *_, last = (name for name in taker.contexts if not name.startswith("day"))
    assert all(f"{day}: " in taker.contexts[first] for day in days)
    assert "sat through" not in taker.contexts[first]
    assert f"sat through {first}" in taker.contexts[last]
    assert "times" in taker.contexts[last]
    calls = (tmp_path / "out" / row["cell_id"] / "timing_calls.jsonl").read_text("utf-8")
    assert '"server":"memory"' in calls


async def test_a_layer_that_shows_nothing_shows_nothing(tmp_path: Path) -> None:
    taker = NoteTaker()
    row = await run_timing_cell(cell_of(tmp_path, taker, memory_layer="none"))
    assert "layer-none" in row["cell_id"]
    assert not any("<context>" in text for text in taker.contexts.values())


class LayerUser(NoteTaker):
    """Writes and reads by whatever the layer offers."""

    def __init__(self) -> None:
        super().__init__()
        self.tools: dict[str, list[str]] = {}
        self.found: dict[str, str] = {}

    def agent(self, session_id: str) -> AgentModel:
        return _LayerAgent(self, session_id)


class _LayerAgent(_Agent):
    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        taker, names = self.taker, [tool.name for tool in tools]
        assert isinstance(taker, LayerUser)
        taker.tools[self.session_id] = names
        calls = [call.name for message in messages for call in message.tool_calls or ()]
        if "memory_search" in names and "memory_search" not in calls:
            return _call(len(messages), "memory_search", {"query": "habits of day"})
        if calls[-1:] == ["memory_search"]:
            taker.found[self.session_id] = messages[-1].content or ""
        if "memory_save" in names and "memory_save" not in calls:
            return _call(len(messages), "memory_save", {"text": f"habits seen in {self.session_id}"})
        if self.session_id.startswith("day") and calls[-1:] == ["memory_save"]:
            return ModelReply("Noted.")
        if not self.session_id.startswith("day") and "start_sitting" not in calls:
            return _call(len(messages), "start_sitting", {})
        if self.session_id.startswith("day") and "remember" not in calls:
            return _call(len(messages), "remember", {"note": f"habits seen in {self.session_id}"})
        return await super().respond(messages, tools)


@pytest.mark.parametrize(("layer", "writes_by"), [("notes", "memory_save"), ("retrieval", "remember")])
async def test_layers_with_tools_are_written_and_searched(tmp_path: Path, layer: str, writes_by: str) -> None:
    taker = LayerUser()
    cell = cell_of(tmp_path, taker, memory_layer=layer)
    row = await run_timing_cell(cell)
    assert (row["ok"], row["notes"]) == (True, 19)
    assert all("memory_search" in names and writes_by in names for names in taker.tools.values())
    assert {"remember", "memory_save"} - {writes_by} == {
        name for name in ("remember", "memory_save") if name not in taker.tools["day-01"]
    }
    first, *_, last = (name for name in taker.found if not name.startswith("day"))
    assert "day-0" in taker.found["day-05"]
    assert "day-" in taker.found[first]
    assert not any("<context>" in text for text in taker.contexts.values())
    trajectory = load_trajectory(cell.folder.trajectory(last))
    assert trajectory.memory_use is not None
    assert (trajectory.memory_use.tool_calls > 0, trajectory.memory_use.discarded_writes) == (True, 0)
    cell.folder.done.unlink()
    again = LayerUser()
    await run_timing_cell(cell_of(tmp_path, again, memory_layer=layer))
    assert again.tools == {}, "all sessions on disk saw this memory"


async def test_a_run_that_broke_off_goes_on_with_the_same_memory(tmp_path: Path) -> None:
    whole = NoteTaker()
    await run_timing_cell(cell_of(tmp_path / "whole", whole))
    with pytest.raises(Exception, match="gone"):
        await run_timing_cell(cell_of(tmp_path, NoteTaker("day-09")))
    second = NoteTaker()
    cell = cell_of(tmp_path, second)
    row = await run_timing_cell(cell)
    assert min(second.contexts) == "day-09"
    assert second.contexts == {name: whole.contexts[name] for name in second.contexts}
    assert row["notes"] == 19


async def test_sessions_that_saw_another_memory_are_played_again(tmp_path: Path) -> None:
    taker = NoteTaker()
    cell = cell_of(tmp_path, taker)
    await run_timing_cell(cell)
    path = cell.folder.trajectory("day-05")
    changed = load_trajectory(path)
    note = next(c for m in changed.messages for c in m.tool_calls or () if c.name == "remember")
    note.arguments["note"] = "something else"
    path.write_text(changed.model_dump_json(), encoding="utf-8")
    cell.folder.done.unlink()
    again = NoteTaker()
    await run_timing_cell(cell_of(tmp_path, again))
    assert min(again.contexts) == "day-06"
    assert len(again.contexts) == 11 + 3


async def test_an_offline_player_takes_no_notes(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, NoteTaker())
    row = await run_timing_cell(replace(cell, settings=replace(cell.settings, notes=False)))
    assert (row["sittings"], row["notes"]) == (3, 0)
