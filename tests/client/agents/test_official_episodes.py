"""The official episodes can be played to their end: whoever is shown the answers passes everything."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from atr_client.agents.gold import gold_model
from atr_client.cell.episode_runner import EpisodeRunner, offline_users
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.recorder import SessionRecorder
from atr_client.session.turns import SessionSettings
from atr_data import load_episode, select_episodes
from atr_data.calls import CallLog
from atr_data.trajectory import Trajectory
from atr_evaluator import evaluate_episode


async def test_gold_ends_every_learning_session_and_passes_every_test(
    official_dir: Path, tmp_path: Path
) -> None:
    user_of = offline_users()
    endings: Counter[str] = Counter()
    passed = total = 0
    for path in select_episodes(["all"], official_dir / "episodes"):
        episode = load_episode(path)
        play = EpisodeRunner(episode, "default", gold_model(), user_of, SessionSettings())
        trajectories: list[Trajectory] = []
        with CallLog(tmp_path / f"{episode.persona_id}.jsonl") as log:
            for session in [*episode.learning_sessions, *episode.test_sessions]:
                recorder = SessionRecorder(log, 1, session.session_id, session.session_type, "default")
                trajectories.append(
                    await play(
                        session, memory=SessionMemory.of_text(None).unopened(recorder), recorder=recorder
                    )
                )
        endings.update(trajectory.termination_reason for trajectory in trajectories)
        metrics = evaluate_episode(episode, trajectories, "default")["metrics"]
        passed, total = passed + metrics["success_count"], total + metrics["total_test"]
        assert metrics["missing_learning_sessions"] == []
    assert (passed, total) == (284, 284)
    assert endings == {"task_complete": 568, "agent_stop": 284}
