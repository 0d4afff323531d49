"""The two phases of a cell: learn session by session, then test on the frozen memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
import structlog

from atr_client.cell.attempts import Attempts
from atr_client.cell.definition import Cell
from atr_client.cell.isolation import outcome_of
from atr_client.cell.progress import Progress
from atr_client.cell.reuse import OnDisk, look_up
from atr_client.logs import get_logger
from atr_client.outputs.traces import write_trace
from atr_client.session.memory import MemoryClient, open_memory
from atr_client.session.recorder import SessionRecorder
from atr_client.session.session_runner import context_digest
from atr_data.calls import CallLog
from atr_data.constants import ORACLE_VARIANTS
from atr_data.episode import LearningSession, TestSession
from atr_data.files import write_atomic
from atr_data.trajectory import Trajectory
from atr_memory import MemoryStore

_log = get_logger()

ContextSource = Callable[[TestSession], Awaitable[str | None]]


async def play_all(cell: Cell, progress: Progress) -> list[Trajectory]:
    """Plays or reuses every session of a cell and returns them all in order.

    The memory lives as long as the call: it is rebuilt from the trajectories each time.
    """
    with CallLog(cell.folder.calls) as log, MemoryStore() as store:
        attempts = Attempts(cell.folder.calls, log, cell.key.variant)
        return await _Phases(cell, progress, attempts, store).run()


@dataclass(frozen=True, slots=True)
class _Phases:
    cell: Cell
    progress: Progress
    attempts: Attempts
    store: MemoryStore

    async def run(self) -> list[Trajectory]:
        if self.cell.key.variant == "oracle_target":
            return await self._test(self._own_statement)
        namespace = self.cell.key.cell_id
        async with open_memory(self.store, namespace) as memory:
            learned = [] if self.cell.key.variant in ORACLE_VARIANTS else await self._learn(memory)
            if not self.cell.episode.test_sessions:
                return learned
            if self.cell.key.variant == "oracle_full":
                await self._tell_everything(memory)
            snapshot_id = await memory.freeze(self._first_test)
        async with open_memory(self.store, namespace) as frozen:
            await frozen.open_snapshot(snapshot_id, self._first_test)
            return learned + await self._test(lambda s: frozen.render(self.attempts.current(s)))

    @property
    def _first_test(self) -> SessionRecorder:
        return self.attempts.current(self.cell.episode.test_sessions[0])

    async def _learn(self, memory: MemoryClient) -> list[Trajectory]:
        trajectories: list[Trajectory] = []
        for session in self.cell.episode.ordered_learning_sessions():
            context = await memory.render(self.attempts.current(session))
            trajectory = await self._play_or_reuse(session, context)
            await memory.append_session(trajectory, self.attempts.current(session))
            trajectories.append(trajectory)
        return trajectories

    async def _tell_everything(self, memory: MemoryClient) -> None:
        for rule in self.cell.episode.rules:
            await memory.append_prior_statement(rule.canonical_answer, self._first_test)

    async def _own_statement(self, session: TestSession) -> str | None:
        recorder = self.attempts.current(session)
        rule = self.cell.episode.rule(session.rule_id)
        assert rule is not None, "check_oracle ran before"
        async with open_memory(self.store, f"{self.cell.key.cell_id}/{session.session_id}") as memory:
            await memory.append_prior_statement(rule.canonical_answer, recorder)
            await memory.open_snapshot(await memory.freeze(recorder), recorder)
            return await memory.render(recorder)

    async def _test(self, context_of: ContextSource) -> list[Trajectory]:
        """Test sessions one after the other stop at the first failure; in parallel all of them run to their
        end before the first failure, in the episode's order, is raised."""
        sessions = self.cell.episode.test_sessions
        if self.cell.options.test_sessions == 1:
            return [await self._play_or_reuse(s, await context_of(s)) for s in sessions]
        outcomes: dict[str, Trajectory | Exception] = {}
        limiter = anyio.CapacityLimiter(self.cell.options.test_sessions)

        async def play(session: TestSession) -> None:
            async def one() -> Trajectory:
                return await self._play_or_reuse(session, await context_of(session))

            async with limiter:
                outcomes[session.session_id] = await outcome_of(one)

        async with anyio.create_task_group() as group:
            for session in sessions:
                group.start_soon(play, session)
        return [_unless_failed(outcomes[session.session_id]) for session in sessions]

    async def _play_or_reuse(self, session: LearningSession | TestSession, context: str | None) -> Trajectory:
        with structlog.contextvars.bound_contextvars(session=session.session_id):
            found = look_up(
                self.cell.folder.trajectory(session.session_id),
                session,
                variant=self.cell.key.variant,
                context_sha256=context_digest(context),
                compatible=self.cell.options.compatible,
            )
            if found.trajectory:
                self.attempts.end(session)
            trajectory = found.trajectory or await self._play(session, context, found)
            has_trace = found.trajectory and self.cell.folder.trace(session.session_id).exists()
            if self.cell.options.traces and not has_trace:
                write_trace(self.cell.folder, trajectory)
            self.progress.session_done(self.cell.key, trajectory, reused=found.trajectory is not None)
            return trajectory

    async def _play(
        self, session: LearningSession | TestSession, context: str | None, found: OnDisk
    ) -> Trajectory:
        """A stale file is removed first, so whatever file there is belongs to the latest attempt."""
        path = self.cell.folder.trajectory(session.session_id)
        if found.refusal:
            _log.warning("running again", reason=found.refusal)
        if found.stale:
            path.unlink()
        recorder = self.attempts.start(session)
        _log.info("session started", attempt=recorder.attempt)
        trajectory = await self.cell.run_session(session, memory_context=context, recorder=recorder)
        write_atomic(path, trajectory.model_dump_json(indent=2))
        self.attempts.end(session)
        _log.info(
            "session done",
            termination=trajectory.termination_reason,
            steps=trajectory.step_count,
            seconds=trajectory.duration_seconds,
        )
        return trajectory


def _unless_failed(outcome: Trajectory | Exception) -> Trajectory:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
