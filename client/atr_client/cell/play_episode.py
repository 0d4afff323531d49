"""One whole episode in memory: nothing is written unless a log is given."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atr_client.cell.episode_runner import EpisodeRunner, UserMaker, offline_users
from atr_client.cell.known_lines import users_on_file
from atr_client.cell.learn_freeze_test import LearnFreezeTest, check_statements
from atr_client.cell.playable import load_playable
from atr_client.cell.remembered_session import played
from atr_client.errors import ConfigError
from atr_client.models.base import Model
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.layers import named_layer
from atr_client.session.recorder import SessionRecorder
from atr_client.session.turns import SessionSettings
from atr_data import Episode
from atr_data.calls import CallLog, CallSink, LogRecord
from atr_data.episode import LearningSession, TestSession
from atr_data.trajectory import Trajectory
from atr_data.variants import VARIANTS
from atr_evaluator import evaluate_episode
from atr_memory import CONTEXT, MemoryLayer, MemoryStore


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """`trajectories` in the order of the protocol: learning sessions, then test sessions. `evaluation` is
    what `evaluate_episode` makes of them."""

    trajectories: Sequence[Trajectory]
    evaluation: dict[str, Any]


async def play_episode(
    episode: Episode | str | os.PathLike[str],
    variant: str,
    model: Model,
    *,
    user: UserMaker | None = None,
    memory: MemoryLayer | str | None = None,
    log: CallSink | str | os.PathLike[str] | None = None,
    settings: SessionSettings | None = None,
    at_once: int = 1,
    on_session: Callable[[Trajectory], None] | None = None,
) -> EpisodeResult:
    """Plays an episode from its first learning session to its last test: learn, freeze, test.

    `model` is anything with `respond(messages, tools)`. `user` makes the user of each learning session, by
    default the offline one, who knows what lies beside an episode that is given as a path; `memory` is a
    layer or its name, by default `context`; `log` takes every MCP call, in a file or an object with `append`.
    `at_once` test sessions run together.
    `on_session` is told of each session as it ends.

    Raises ConfigError for an unknown variant or layer, DataError for an episode that cannot be used,
    PreflightError when an oracle lacks a statement, CellAbort when something around the agent broke.
    """
    if variant not in VARIANTS:
        raise ConfigError(f"unknown variant {variant!r}; one of: {', '.join(VARIANTS)}")
    played = episode if isinstance(episode, Episode) else load_playable(episode)
    users = user or (
        offline_users() if isinstance(episode, Episode) else users_on_file(played, Path(episode))
    )
    check_statements(played, variant)
    layer = named_layer(memory) if isinstance(memory, str) else memory or CONTEXT
    runner = EpisodeRunner(played, variant, model, users, settings or SessionSettings())
    sink = CallLog(Path(log)) if isinstance(log, str | os.PathLike) else log or _Unlogged()
    try:
        with MemoryStore() as store:
            way = LearnFreezeTest(
                played,
                variant,
                _NewSessions(runner, sink, on_session),
                store,
                layer,
                played.episode_id,
                at_once,
            )
            trajectories = await way.run()
    finally:
        if isinstance(sink, CallLog) and sink is not log:
            sink.close()
    return EpisodeResult(trajectories, evaluate_episode(played, trajectories, variant))


class _Unlogged:
    def append(self, record: LogRecord) -> None: ...


@dataclass(frozen=True, slots=True)
class _NewSessions:
    """Plays every session, once."""

    runner: EpisodeRunner
    log: CallSink
    on_session: Callable[[Trajectory], None] | None

    def recorder(self, session: LearningSession | TestSession) -> SessionRecorder:
        return SessionRecorder(
            log=self.log,
            attempt=1,
            session_id=session.session_id,
            session_type=session.session_type,
            variant=self.runner.variant,
        )

    async def play(self, session: LearningSession | TestSession, memory: SessionMemory) -> Trajectory:
        recorder = self.recorder(session)
        recorder.start()
        trajectory = await played(session, self.runner, memory, recorder)
        recorder.end()
        if self.on_session:
            self.on_session(trajectory)
        return trajectory
