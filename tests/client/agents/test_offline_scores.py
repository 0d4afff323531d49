"""What the offline agents score: alone in test sessions, and in whole cells from the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from atr_client.agents import OFFLINE_MODELS
from atr_client.session.environments import open_environment
from atr_client.session.recorder import SessionRecorder
from atr_client.session.session_runner import run_session
from atr_client.session.turns import SessionSettings
from atr_data import load_episode, select_episodes
from atr_data.calls import CallLog
from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_evaluator import evaluate_episode
from tests.conftest import ROOT
from tests.support.command import call

EPISODES = ROOT / "data" / "episodes"


async def play_tests(model_id: str, episode: Episode, folder: Path, context: bool) -> dict[str, Any]:
    """Test sessions alone: without a context, or with the statement of the session's rule."""
    trajectories: list[Trajectory] = []
    with CallLog(folder / f"{episode.persona_id}.jsonl") as log:
        for session in episode.test_sessions:
            rule = episode.rule(session.rule_id)
            statement = f"[Prior statement 1]\n[user]: {rule.canonical_answer}" if context and rule else None
            recorder = SessionRecorder(log, 1, session.session_id, "test", "default")
            async with open_environment(episode, session, recorder) as environment:
                trajectory = await run_session(
                    episode=episode,
                    session=session,
                    variant="default",
                    model=OFFLINE_MODELS[model_id].model(),
                    memory_context=statement,
                    user=None,
                    environment=environment,
                    settings=SessionSettings(),
                )
            assert trajectory.termination_reason == "agent_stop"
            trajectories.append(trajectory)
    return evaluate_episode(episode, trajectories, "default")["metrics"]


async def pooled(model_id: str, folder: Path, episodes: Path, *, context: bool = False) -> tuple[int, int]:
    passed = total = 0
    for path in select_episodes(["all"], episodes):
        metrics = await play_tests(model_id, load_episode(path), folder, context)
        passed, total = passed + metrics["success_count"], total + metrics["total_test"]
    return passed, total


async def test_gold_passes_every_official_test(official_dir: Path, tmp_path: Path) -> None:
    assert await pooled("offline/gold", tmp_path, official_dir / "episodes") == (284, 284)


async def test_noop_passes_no_official_test(official_dir: Path, tmp_path: Path) -> None:
    assert await pooled("offline/noop", tmp_path, official_dir / "episodes") == (0, 284)


async def test_a_known_rule_is_worth_much_to_asker(official_dir: Path, tmp_path: Path) -> None:
    episodes = official_dir / "episodes"
    naive, total = await pooled("offline/naive", tmp_path, episodes, context=True)
    told, _ = await pooled("offline/asker", tmp_path, episodes, context=True)
    assert naive <= 0.18 * total
    assert told >= 0.6 * total


async def test_naive_is_asker_without_a_memory(tmp_path: Path) -> None:
    episode = load_episode(EPISODES / "odalys_renner_seed000.json")
    naive = await play_tests("offline/naive", episode, tmp_path, context=True)
    ignorant = await play_tests("offline/asker", episode, tmp_path, context=False)
    assert naive["success_count"] == ignorant["success_count"]


def run_cells(arguments: Sequence[str], outputs: Path) -> Path:
    """A run of whole cells from the command line."""
    options = ("--outputs", outputs, "--no-progress", "--no-trace-footers")
    assert call("run", *arguments, *options) == 0
    return outputs


def passed_in_cells(outputs: Path, persona: str = "") -> dict[str, tuple[int, int]]:
    """Tests passed and all tests, by variant. Every learning session must have come to its end."""
    sums: dict[str, tuple[int, int]] = {}
    for path in outputs.glob(f"{persona}*/**/_cell_done.json"):
        row = json.loads(path.read_text())
        assert row["ls_bad"] == 0
        passed, total = sums.get(row["variant"], (0, 0))
        sums[row["variant"]] = (passed + row["ts_pass"], total + row["ts_total"])
    return sums


def assert_asking_pays(sums: dict[str, tuple[int, int]]) -> None:
    default, atr, always_ask, oracle = (
        sums[variant][0] for variant in ("default", "atr", "always_ask", "oracle_target")
    )
    assert default < atr <= always_ask < oracle
    assert (oracle - default) / sums["default"][1] >= 0.15


@pytest.mark.early
def test_asking_and_remembering_pay_on_the_written_personas_and_on_that_of_the_quickstart(
    tmp_path: Path,
) -> None:
    outputs = run_cells(["--config", "official", "--episodes", str(EPISODES)], tmp_path)
    all_of_them, one = passed_in_cells(outputs), passed_in_cells(outputs, "odalys_renner")
    assert (all_of_them["default"][1], one["default"][1]) == (70, 14)
    assert_asking_pays(all_of_them)
    assert_asking_pays(one)


def test_asking_and_remembering_pay_on_official_episodes(official_dir: Path, tmp_path: Path) -> None:
    """Three of them; all twenty take more than a minute."""
    some = tmp_path / "episodes"
    some.mkdir()
    for path in sorted((official_dir / "episodes").glob("*.json"))[::7]:
        shutil.copy(path, some)
    outputs = run_cells(["--config", "official", "--episodes", str(some)], tmp_path / "outputs")
    assert_asking_pays(passed_in_cells(outputs))
