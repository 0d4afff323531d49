"""Agents that are programs: started per session, watched, and told apart from what they achieve."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from atr_client import run_cell, run_sweep
from atr_client.cell.definition import Cell
from atr_client.errors import CellAbort, ConfigError
from atr_client.gateway.command_sessions import command_players
from atr_client.gateway.handed_session import HandedSession
from atr_client.sweep.config import RunConfig
from atr_client.sweep.plan import plan_cells
from atr_data import Episode, load_trajectory
from atr_memory import MemoryStore
from atr_memory.file_tree import texts_of
from tests.conftest import ROOT
from tests.support.gateway import EPISODE, asker, passes, write_episode
from tests.support.planted import planted

PROGRAM = [sys.executable, "-m", "tests.support.agent_program"]


def short(episode: Episode, learning: int, tests: int) -> Episode:
    sessions = episode.ordered_learning_sessions()[:learning]
    return episode.model_copy(
        update={"learning_sessions": sessions, "test_sessions": episode.test_sessions[:tests]}
    )


def cell_of(tmp_path: Path, behaviour: str, variant: str = "oracle_target", **config: Any) -> Cell:
    """A cell of a short episode with planted gold, played by the program."""
    path = write_episode(tmp_path, short(planted(EPISODE), 2, 1))
    run = RunConfig.model_validate(
        {
            "name": "commands",
            "episodes": {"select": [str(path)]},
            "variants": [variant],
            "models": [
                {
                    "id": config.pop("id", "cmd/program"),
                    "command": [*PROGRAM, behaviour],
                    "environment": {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
                }
            ],
            **config,
        }
    )
    (cell,) = plan_cells(run, tmp_path / "outputs", commands=command_players)
    return cell


def record_of(cell: Cell, session_id: str = "ZZ-GOLD-ts-0") -> Path:
    return cell.folder.path / "commands" / session_id / "attempt-1"


async def test_it_passes_what_it_passes_in_process(tmp_path: Path) -> None:
    from atr_client import play_episode

    cell = cell_of(tmp_path, "plays", "atr")
    result = await run_cell(cell)
    alone = await play_episode(cell.episode, "atr", asker())
    assert passes(json.loads(cell.folder.evaluation.read_text())) == passes(alone.evaluation)
    assert [t.termination_reason for t in result.trajectories] == [
        t.termination_reason for t in alone.trajectories
    ]
    assert result.row["off_protocol"] is None
    manifest = json.loads(cell.folder.manifest.read_text())
    assert (manifest["agent"], manifest["model"]) == ("command", "cmd/program")
    assert manifest["timeout"] == 1800
    assert [client["name"] for client in manifest["clients"]] == ["codex-mcp-client"]
    told = json.loads((record_of(cell) / "command.json").read_text())
    assert (told["exit_code"], told["connected"]) == (0, True)
    assert told["calls"] > 0


async def test_it_finds_nothing_of_the_episode_within_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SECRET", "ZZ-GOLD-secret")
    cell = cell_of(tmp_path, "looks around")
    await run_cell(cell)
    seen = (record_of(cell) / "stdout.txt").read_text()
    assert "mcpServers" in seen
    assert "ZZ-GOLD" not in seen
    assert str(tmp_path) not in seen


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("does nothing", "never came to the gateway"),
        ("only lists", "without a single call"),
        ("fails", "exit code 1: out of cheese"),
        ("fails on standard output", "exit code 3: no credit"),
    ],
)
async def test_a_program_that_went_wrong_is_no_score(tmp_path: Path, behaviour: str, reason: str) -> None:
    cell = cell_of(tmp_path, behaviour)
    report = await run_sweep([cell])
    (row,) = report.sorted_rows
    assert (row["ok"], row["aborted"], row["module"]) == (False, True, "agent")
    assert reason in row["error"]
    assert not list(cell.folder.trajectories.glob("*.json"))


async def test_a_program_that_never_comes_is_no_score_when_its_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atr_client.gateway.command_sessions.GRACE", 0.2)
    cell = cell_of(tmp_path, "sleeps", limits={"timeout": 0.1})
    with pytest.raises(CellAbort, match="never came to the gateway"):
        await run_cell(cell)
    assert not list(cell.folder.trajectories.glob("*.json"))


async def test_a_program_that_is_not_there_is_no_score(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "plays")
    object.__setattr__(cell.run_session.spec, "command", ("no-such-program",))  # pyright: ignore
    with pytest.raises(CellAbort, match="no-such-program"):
        await run_cell(cell)


async def test_calls_that_its_client_refused_are_no_score(tmp_path: Path) -> None:
    with pytest.raises(CellAbort, match=r"refused.*place_order"):
        await run_cell(cell_of(tmp_path, "is refused", id="cmd/claude"))


async def test_a_program_that_leaves_early_has_nothing_more_to_say(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "leaves early")
    await run_cell(cell)
    trajectory = load_trajectory(cell.folder.trajectory("ZZ-GOLD-ts-0"))
    assert trajectory.termination_reason == "agent_empty_response"
    assert trajectory.step_count == 2


async def test_a_program_that_hangs_is_stopped_when_its_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atr_client.gateway.command_sessions.GRACE", 0.2)
    call = HandedSession.call

    async def last_call(place: HandedSession, *called: Any) -> Any:
        """A program may take long to start; its time is over once it has called."""
        place._hosted.mailbox.deadline = time.monotonic() + 0.2  # pyright: ignore[reportPrivateUsage]
        return await call(place, *called)

    monkeypatch.setattr(HandedSession, "call", last_call)
    cell = cell_of(tmp_path, "hangs")
    await run_cell(cell)
    assert load_trajectory(cell.folder.trajectory("ZZ-GOLD-ts-0")).termination_reason == "timeout"
    told = json.loads((record_of(cell) / "command.json").read_text())
    assert told["exit_code"] < 0
    assert told["calls"] <= 1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"id": "cmd/mine"}, "names no command"),
        ({"id": "cmd/mine", "command": ["x"], "wire": "openai_chat"}, "is a command"),
        ({"id": "offline/asker", "command": ["x"]}, "begin with cmd/"),
        ({"id": "cmd/mine", "command": []}, "at least 1"),
    ],
)
def test_what_is_no_command_is_told(tmp_path: Path, model: dict[str, Any], message: str) -> None:
    values = {"name": "x", "episodes": {"select": [str(EPISODE)]}, "variants": ["atr"], "models": [model]}
    with pytest.raises((ConfigError, ValueError), match=message):
        plan_cells(RunConfig.model_validate(values), tmp_path, commands=command_players)


def test_presets_call_their_clients_with_what_they_need(tmp_path: Path) -> None:
    from atr_client.gateway.client_presets import prepared
    from atr_client.sweep.commands import command_spec

    for name, expected in (
        ("claude", ["-p", "--strict-mcp-config", "mcp__atr__*"]),
        ("codex", ["exec", "-"]),
        ("gemini", ["--approval-mode", "yolo"]),
    ):
        folder = tmp_path / name
        folder.mkdir()
        spec = command_spec(f"cmd/{name}", None, {"A": "b"}, ["HOME"])
        invocation = prepared(spec, "http://127.0.0.1:1/play/x/mcp", "do it", folder)
        assert Path(invocation.arguments[0]).name == name
        assert set(expected) <= set(invocation.arguments)
        assert invocation.environment["A"] == "b"
        assert invocation.environment["HOME"] == str(folder / "home") != os.environ["HOME"]
        files = [path for path in invocation.folder.rglob("*") if path.is_file()]
        configured = "".join(path.read_text() for path in files) + " ".join(invocation.arguments)
        assert "http://127.0.0.1:1/play/x/mcp" in configured


async def test_its_files_are_its_memory_and_each_test_has_a_copy_of_its_own(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "keeps a diary", "default", memory="home")
    result = await run_cell(cell)
    seen: dict[str, dict[str, Any]] = {}
    for record in (cell.folder.path / "commands").iterdir():
        seen[record.name] = json.loads((record / "attempt-1" / "stdout.txt").read_text().splitlines()[0])
    order = [t.session_id for t in result.trajectories]
    assert [seen[name]["diary"].count("again") for name in order] == [0, 1, 2]
    assert all(told["told"] for told in seen.values())
    assert cell.folder.memory.exists() and manifest_snapshot(cell)
    test = result.trajectories[-1]
    assert test.memory_use and test.memory_use.discarded_writes == 1
    with MemoryStore(cell.folder.memory) as store:
        kept = [texts_of(entry.text, store) for entry in store.all_entries()]
    assert kept == ["again\n", "again\nagain\n"], "and none of the harness's own files"


def manifest_snapshot(cell: Cell) -> str:
    return json.loads(cell.folder.manifest.read_text())["memory_snapshot"]


def test_files_as_memory_are_for_programs_and_text_that_a_model_writes_is_not(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="memory rewrite: this agent cannot write for a memory"):
        cell_of(tmp_path, "plays", "default", memory="rewrite")
    path = write_episode(tmp_path, short(planted(EPISODE), 1, 1))
    config = {"name": "x", "episodes": {"select": [str(path)]}, "variants": ["atr"], "memory": "home"}
    with pytest.raises(ConfigError, match="memory home: home is for agents that are programs"):
        plan_cells(RunConfig.model_validate(config | {"models": ["offline/asker"]}), tmp_path)
