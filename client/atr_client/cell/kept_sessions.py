"""The sessions of a cell: reused where the file on disk is what this run would make, else played and kept."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from atr_client.cell.attempts import Attempts
from atr_client.cell.definition import Cell
from atr_client.cell.progress import Progress
from atr_client.cell.remembered_session import played
from atr_client.cell.reuse import OnDisk, look_up
from atr_client.logs import get_logger
from atr_client.outputs.traces import write_trace
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.recorder import SessionRecorder
from atr_data.episode import LearningSession, TestSession
from atr_data.trajectory import Trajectory

_log = get_logger()


@dataclass(frozen=True, slots=True)
class KeptSessions:
    cell: Cell
    progress: Progress
    attempts: Attempts

    def recorder(self, session: LearningSession | TestSession) -> SessionRecorder:
        return self.attempts.current(session)

    async def play(self, session: LearningSession | TestSession, memory: SessionMemory) -> Trajectory:
        with structlog.contextvars.bound_contextvars(session=session.session_id):
            found = look_up(
                self.cell.folder.trajectory(session.session_id),
                session,
                variant=self.cell.key.variant,
                memory=memory,
                compatible=self.cell.options.compatible,
            )
            if found.trajectory:
                self.attempts.end(session)
            trajectory = found.trajectory or await self._play(session, memory, found)
            has_trace = found.trajectory and self.cell.folder.trace(session.session_id).exists()
            if self.cell.options.traces and not has_trace:
                write_trace(self.cell.folder, trajectory)
            self.progress.session_done(self.cell.key, trajectory, reused=found.trajectory is not None)
            return trajectory

    async def _play(
        self, session: LearningSession | TestSession, memory: SessionMemory, found: OnDisk
    ) -> Trajectory:
        """A stale file is removed first, so whatever file there is belongs to the latest attempt."""
        path = self.cell.folder.trajectory(session.session_id)
        if found.refusal:
            _log.warning("running again", reason=found.refusal)
        if found.stale:
            path.unlink()
        await self.cell.admit(session)
        recorder = self.attempts.start(session)
        _log.info("session started", attempt=recorder.attempt)
        trajectory = await played(session, self.cell.run_session, memory, recorder)
        await self.cell.commits.write(path, trajectory.model_dump_json(indent=2))
        self.attempts.end(session)
        _log.info(
            "session done",
            termination=trajectory.termination_reason,
            steps=trajectory.step_count,
            seconds=trajectory.duration_seconds,
        )
        return trajectory
