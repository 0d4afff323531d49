"""Prints how many trajectories are scored per second. Run: `python tests/benchmarks/bench_scoring.py`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_evaluator import evaluate_episode, score_cell

TESTS, TURNS = 200, 12
GOLD = {"file_ids": ["f_1", "f_2"], "folder_id": "fo_9"}


def synthetic_episode() -> Episode:
    rules = [
        {
            "rule_id": f"r_{index}",
            "rule_text": "t",
            "canonical_answer": "a",
            "check_type": "param_id",
            "action_step": {"tool": "archive_files", "param": "folder_id"},
        }
        for index in range(TESTS)
    ]
    required = {"tool": "archive_files", "arguments": GOLD, "compare_args": list(GOLD)}
    tests = [
        {
            "session_id": f"ts_{index:03}",
            "domain": "workspace",
            "rule_id": f"r_{index}",
            "instruction": "i",
            "local_env": {"tools": []},
            "labels": {"task_success": {"required_actions": [required]}},
        }
        for index in range(TESTS)
    ]
    return Episode.model_validate(
        {
            "episode_id": "bench_seed000",
            "raw_persona": {"persona_id": "bench", "narrative": "n"},
            "structured_persona": {},
            "rules": rules,
            "learning_sessions": [],
            "test_sessions": tests,
        }
    )


def synthetic_trajectory(index: int) -> Trajectory:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "please"}]
    for turn in range(TURNS):
        name, arguments = ("archive_files", GOLD) if turn == TURNS - 1 else ("list_files", {"query": "plan"})
        call = {"id": f"c{turn}", "name": name, "arguments": arguments}
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append(
            {"role": "tool", "content": '{"ok": true}' * 50, "tool_call_id": call["id"], "tool_error": False}
        )
    return Trajectory.model_validate(
        {
            "session_id": f"ts_{index:03}",
            "session_type": "test",
            "agent_variant": "atr",
            "messages": messages,
            "step_count": TURNS,
        }
    )


def rate(work: Callable[[], object], *, rounds: int = 5) -> float:
    """Trajectories per second of the best round."""
    best = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return TESTS / best


def main() -> None:
    episode = synthetic_episode()
    trajectories = [synthetic_trajectory(index) for index in range(TESTS)]
    print(f"{TESTS} trajectories of {TURNS} turns")
    print(f"in memory:           {rate(lambda: evaluate_episode(episode, trajectories, 'atr')):8.0f} /s")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "trajectories"
        folder.mkdir()
        for trajectory in trajectories:
            (folder / f"{trajectory.session_id}.json").write_text(trajectory.model_dump_json())
        scored = rate(lambda: score_cell(Path(name), episode, variant="atr"))
        print(f"from files to files: {scored:8.0f} /s")


if __name__ == "__main__":
    main()
