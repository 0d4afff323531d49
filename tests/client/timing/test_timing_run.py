"""`atr-client run` on the timing track: files, resume, tables, models, mistakes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from atr_client.models.base import ModelReply, ToolSpec
from atr_client.timing.baselines import BASELINES
from atr_client.timing.chooser_agent import ChooserAgent
from atr_client.timing.choosers.reader import Reader
from atr_client.timing.sitting_runner import SittingSettings, play_sitting
from atr_client.timing.timing_results import conditions
from atr_client.timing.timing_set import TimingSet
from atr_data import DataError, load_trajectory
from atr_data.trajectory import Message
from atr_datagen.timing.settings import USERS
from tests.client.timing.test_sitting_loop import Records, SessionRecorder
from tests.support.command import call
from tests.support.mock_provider import LlmockServer
from tests.support.timing_sets import files_of, generated, saved_set

NEVER, READER = "offline/never", "offline/reader-16"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved_set(tmp_path_factory.mktemp("set"))


def config(folder: Path, small: Path, **keys: Any) -> Path:
    path = folder / "timing.yaml"
    wanted = {"name": "x", "track": "timing", "set": {"folder": str(small)}, "models": [NEVER, READER]}
    path.write_text(json.dumps({**wanted, "outputs": str(folder / "out"), **keys}), encoding="utf-8")
    return path


def cells(folder: Path) -> list[Path]:
    return sorted(path.parent for path in (folder / "out").rglob("timing_manifest.json"))


def test_a_run_writes_cells_and_prints_a_table(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ("run", "--config", config(tmp_path, small))
    assert call(*run) == 0
    told = capsys.readouterr()
    assert f"| {NEVER} | 0.000 |" in told.out
    assert f"| {READER} (privileged) | " in told.out
    assert "Guess bound: " in told.out
    assert len(cells(tmp_path)) == 4
    manifest = json.loads((cells(tmp_path)[0] / "timing_manifest.json").read_text("utf-8"))
    settings = manifest["track_settings"]
    assert (settings["memory"], settings["history_window_s"]) == ("off", 300)
    assert (settings["process"], settings["burstiness"]) == ("calendar", 0.787)
    assert manifest["complete"]
    assert manifest["cost_usd"] == 0
    assert set(manifest["prompt_hashes"]) >= {"atr_client/sitting.md", "atr_client/history_day.md"}
    before = _bytes(tmp_path)
    assert call(*run) == 0
    assert "kept timing/" in capsys.readouterr().err
    assert _bytes(tmp_path) == before


def test_a_report_has_a_section_of_the_track(small: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    assert call("run", "--config", config(tmp_path, small, models=[NEVER]), "--select", "u000") == 0
    page = tmp_path / "report.html"
    assert call("report", tmp_path / "out", "-o", page) == 0
    text = page.read_text("utf-8")
    assert "<h2>When to help, and with what</h2>" in text
    assert '<th scope="row">offline/never</th><td>0.000</td>' in text


def _bytes(folder: Path) -> dict[str, bytes]:
    left_out = ("_summary", "run.log", ".lock")
    found = (path for path in (folder / "out").rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in found if not any(name in str(path) for name in left_out)}


def test_only_what_is_missing_is_played_again(small: Path, tmp_path: Path) -> None:
    run = ("run", "--config", config(tmp_path, small, models=[READER]), "--select", "u000")
    assert call(*run) == 0
    (cell,) = cells(tmp_path)
    sittings = sorted((cell / "sittings").iterdir())
    kept, lost = sittings[0].read_bytes(), sittings[1]
    decisions = {path.name: path.read_bytes() for path in (cell / "decisions").iterdir()}
    lost.unlink()
    (cell / "decisions" / sittings[2].name).write_text("{", encoding="utf-8")
    (cell / "sittings" / "x.json.tmp").write_text("torn", encoding="utf-8")
    (cell / "_timing_done.json").unlink()
    assert call(*run) == 0
    assert sittings[0].read_bytes() == kept
    assert {path.name: path.read_bytes() for path in (cell / "decisions").iterdir()} == decisions
    assert load_trajectory(lost).termination_reason == "agent_stop"
    assert not list(cell.rglob("*.tmp"))
    lines = map(json.loads, (cell / "timing_calls.jsonl").read_text("utf-8").splitlines())
    starts = [one["attempt"] for one in lines if one["record"] == "session_start"]
    assert sorted(starts) == [1, 1, 1, 2, 2]


def test_a_cell_of_another_run_is_not_mixed_up(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = ("run", "--select", "u000", "--model", NEVER, "--config")
    assert call(*one, config(tmp_path, small)) == 0
    assert call(*one, config(tmp_path, small, turn_budget=3)) == 1
    assert "max_steps was 8, is 3" in capsys.readouterr().out
    assert call(*one, config(tmp_path, small, turn_budget=3), "--fresh") == 0


def test_ablations_have_cells_and_tables_of_their_own(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "timing.yaml"
    config(tmp_path, small, models=[NEVER])
    text = (
        path.read_text("utf-8")[:-1]
        + ', "memory": ["off", "search", "priors", "own"], "history_window_s": 30}'
    )
    path.write_text(text, encoding="utf-8")
    assert call("run", "--config", path, "--select", "u001") == 0
    assert len(cells(tmp_path)) == 4
    printed = capsys.readouterr().out
    for name in ("memory off", "memory search", "memory priors", "memory own"):
        assert f"{name}, history window 30 s" in printed
    assert "layer context" in printed


def test_nulls_adds_every_player_that_is_missing(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = config(tmp_path, small, models=[NEVER])
    assert call("run", "--config", path, "--nulls", "--select", "u000", "--dry-run") == 0
    planned = capsys.readouterr().out.split()
    assert len(planned) == len(set(planned)) == len(BASELINES)
    assert not cells(tmp_path)


def test_a_set_that_is_not_there_is_generated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(USERS, "lite", 1)
    keys = {"set": {"split": "lite"}, "models": [NEVER]}
    run = ("run", "--config", config(tmp_path, tmp_path, **keys), "--select", "u000")
    assert call(*run) == 0
    (index,) = (tmp_path / "out").rglob("set.json")
    before = index.stat().st_mtime_ns
    assert call(*run) == 0
    assert index.stat().st_mtime_ns == before


def test_a_missing_user_is_silence_that_is_told(small: Path, tmp_path: Path) -> None:
    assert call("run", "--config", config(tmp_path, small)) == 0
    shutil.rmtree(cells(tmp_path)[0])
    (found,) = conditions(tmp_path / "out")
    assert len(found.incomplete) == 1
    assert {result["set_sha256"] for result in found.results.values()} == {found.results[NEVER]["set_sha256"]}


def test_another_set_in_its_place_gives_no_table(small: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(small, tmp_path / "mine")
    assert call("run", "--config", config(tmp_path, mine), "--model", NEVER) == 0
    shutil.rmtree(mine)
    saved_set(mine, 1)
    with pytest.raises(DataError, match="is not the set"):
        conditions(tmp_path / "out")
    assert conditions(tmp_path / "out", given=TimingSet.load(small))


def test_tables_can_be_printed_again_and_at_another_cost(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("run", "--config", config(tmp_path, small, models=[READER]), "--select", "u000") == 0
    first = capsys.readouterr().out
    assert call("timing", "table", tmp_path / "out") == 0
    assert capsys.readouterr().out.strip() in first
    assert call("timing", "table", tmp_path / "out", "--cost", 1, "--set", small) == 0
    assert "false_alarm_cost 1," in capsys.readouterr().out
    assert call("timing", "table", tmp_path) == 2
    assert "no run of the timing track" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("keys", "options", "said"),
    [
        ({"models": ["offline/asker"]}, (), "'offline/asker' plays episodes"),
        ({"models": ["offline/nevr"]}, (), "did you mean 'offline/never'"),
        ({"models": ["lab/nobody"]}, (), "models.0"),
        ({"memory": "of"}, (), "memory"),
        ({"history_window_s": 45}, (), "none of 10, 30"),
        ({"memory_layer": "none such"}, (), "unknown memory layer"),
        ({"processes": 2}, (), "limits.cells at once"),
        ({"limits": {"max_steps": 3}}, (), "turn_budget"),
        ({"memory_layer": "rules"}, (), "keeps no notes of an agent"),
        ({"observation": "text+screenshots"}, (), "imported sets"),
        ({"variants": ["atr"]}, (), "unknown key"),
        ({"set": {"folder": "none"}}, (), "set.json"),
        ({"set": {"folder": "x", "seed": 1}}, (), "seed would make one"),
        ({"set": {"split": "private"}}, (), "never published"),
        ({"set": {"salt_env": "NO_SUCH_SALT"}}, (), "NO_SUCH_SALT"),
        ({}, ("--select", "nobody"), "none of the set's users"),
        ({}, ("--variant", "atr"), "--variant is for episodes"),
        ({}, ("--model", "offline/x"), "offline/x"),
    ],
)
def test_mistakes_are_told_in_a_line(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], keys: Any, options: Any, said: str
) -> None:
    assert call("run", "--config", config(tmp_path, small, **keys), *options) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
    assert not cells(tmp_path)


def test_status_tells_how_far_the_cells_are(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("run", "--config", config(tmp_path, small, models=[NEVER])) == 0
    capsys.readouterr()
    assert call("status", tmp_path / "out") == 0
    assert "2/2 cells, 6/6 sessions" in capsys.readouterr().out
    first = cells(tmp_path)[0]
    (first / "_timing_done.json").unlink()
    next((first / "sittings").glob("*.json")).unlink()
    assert call("status", tmp_path / "out") == 3
    told = capsys.readouterr().out
    assert f"begun {first.relative_to(tmp_path / 'out')} (2/3 sessions)" in told
    assert "1/2 cells, 5/6 sessions" in told


MODEL = {
    "id": "lab/m1",
    "wire": "openai_chat",
    "base_url": "http://127.0.0.1:9/v1",
    "price": {"input": 1.0, "output": 2.0},
}


def test_an_estimate_counts_what_would_be_read(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys: dict[str, Any] = {
        "models": ["offline/never", MODEL],
        "memory": ["off", "own"],
        "limits": {"cost_usd": 0.01},
    }
    keys["set"] = {"folder": str(small), "users": ["u000"]}
    assert call("estimate", "--config", config(tmp_path, small, **keys)) == 0
    told = capsys.readouterr().out
    off, own = (line.split() for line in told.splitlines() if line.startswith("lab/m1"))
    sessions, calls, tokens, replies = (int(part.replace(",", "")) for part in off[-5:-1])
    sitting = generated(1)[0].stream.sitting_events()
    decisions = sum(not event.self_help for events in sitting.values() for event in events)
    assert sessions == 3
    assert calls == pytest.approx(decisions + 3, abs=3)
    assert calls * 300 < tokens < calls * 8000
    assert float(off[-1].lstrip("$")) == pytest.approx(tokens / 1e6 + 2 * replies / 1e6, abs=0.01)
    assert int(own[-5]) == 3 + 16
    assert "a dry play of one user" in told
    assert "would stop the run" in told
    assert not cells(tmp_path)


def test_an_estimate_of_a_set_that_is_not_there_writes_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "timing.yaml"
    document = {"name": "x", "track": "timing", "models": [MODEL], "set": {"split": "standard"}}
    path.write_text(json.dumps(document | {"outputs": str(tmp_path / "out")}), encoding="utf-8")
    assert call("estimate", "--config", path) == 0
    assert " 160 " in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_a_doctor_asks_the_models(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("doctor", "--config", config(tmp_path, small)) == 0
    assert "nothing to check" in capsys.readouterr().out
    assert call("doctor", "--config", config(tmp_path, small, models=[MODEL])) == 1
    assert "lab/m1" in capsys.readouterr().out


class Scribe:
    """Plays as another does, and writes down what a provider would have to answer."""

    def __init__(self, agent: ChooserAgent) -> None:
        self.agent, self.script = agent, list[dict[str, Any]]()

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        reply = await self.agent.respond(messages, tools)
        calls = [{"name": call.name, "arguments": call.arguments} for call in reply.tool_calls]
        self.script.append({"type": "reply", "text": None, "tool_calls": calls})
        return reply


async def script_of(sitting_id: str) -> list[dict[str, Any]]:
    user = generated(2)[0]
    scribe = Scribe(ChooserAgent(Reader(), user, user.stream.sitting(sitting_id)))
    recorder = SessionRecorder(Records(), 1, sitting_id, "test", "timing")
    files = files_of(user.stream, user.gold)
    await play_sitting(scribe, files, sitting_id, SittingSettings(), recorder=recorder)
    return scribe.script


@pytest.mark.parametrize(("wire", "base"), [("anthropic", "/anthropic")])
def test_a_model_plays_over_its_wire_to_the_score_of_the_same_decisions(
    small: Path,
    tmp_path: Path,
    llmock_server: LlmockServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    wire: str,
    base: str,
) -> None:
    monkeypatch.setenv("LAB_API_KEY", "sk-sentinel-0123456789")
    for sitting in generated(2)[0].stream.header.sittings:
        llmock_server.queue(*anyio.run(script_of, sitting.sitting_id))
    model = {
        "id": "lab/m1",
        "wire": wire,
        "base_url": f"{llmock_server.url}{base}",
        "key": "LAB_API_KEY",
        "price": {"input": 1.0, "output": 2.0},
    }
    limits = {"test_sessions": 1, "call_attempts": 1, "cells": 1}
    path = config(tmp_path, small, models=[READER, model], limits=limits)
    assert call("run", "--config", path, "--select", "u000") == 0
    printed = capsys.readouterr()
    (found,) = conditions(tmp_path / "out")
    assert found.results["lab/m1"] == found.results[READER]
    cost = found.costs["lab/m1"]
    assert cost is not None
    assert cost > 0
    assert "| cost |" in printed.out
    assert "sk-sentinel" not in printed.out + printed.err
    assert not any(b"sk-sentinel" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_limit_on_cost_stops_the_run_and_the_same_command_goes_on(
    small: Path, tmp_path: Path, llmock_server: LlmockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", "sk-sentinel-0123456789")
    model = {
        "id": "lab/m1",
        "wire": "openai_chat",
        "base_url": f"{llmock_server.url}/v1",
        "key": "LAB_API_KEY",
        "price": {"input": 1.0, "output": 2.0},
    }
    limits = {"test_sessions": 1, "call_attempts": 1, "cells": 1, "cost_usd": 1e-6}
    keys = {"models": [model], "turn_budget": 2}
    run = ("run", "--select", "u000", "--config")
    assert call(*run, config(tmp_path, small, limits=limits, **keys)) == 3
    (cell,) = cells(tmp_path)
    assert len(list((cell / "sittings").glob("*.json"))) == 1
    assert call(*run, config(tmp_path, small, limits={**limits, "cost_usd": 1}, **keys)) == 0
    assert len(list((cell / "sittings").glob("*.json"))) == 3
