"""Sessions of a timing cell: reused where the files are what this run would make, else played and kept.

Decisions are written before the transcript, so that a transcript on disk means a session that is whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from atr_client.logs import get_logger
from atr_client.session.recorder import SessionRecorder
from atr_client.timing.played_sitting import VARIANT, PlayedSitting
from atr_client.timing.timing_files import TimingFolder
from atr_data import DataError, load_trajectory
from atr_data.calls import CallLog, SessionStart, read_calls
from atr_data.files import write_atomic
from atr_data.reading import read_text
from atr_data.timing.decisions import SittingLog
from atr_data.trajectory import Trajectory

_log = get_logger()


@dataclass(slots=True)
class KeptSittings:
    """`stream_sha256` is that of the stream that is played."""

    folder: TimingFolder
    log: CallLog
    stream_sha256: str
    attempts: Counter[str]

    @classmethod
    def of(cls, folder: TimingFolder, log: CallLog, stream_sha256: str) -> KeptSittings:
        """Raises DataError when the call log has a bad line anywhere but at its end."""
        starts = (record for record in read_calls(folder.calls) if isinstance(record, SessionStart))
        return cls(folder, log, stream_sha256, Counter(record.session_id for record in starts))

    def recorder(self, session_id: str, kind: Literal["learning", "test"]) -> SessionRecorder:
        """For the latest attempt."""
        return SessionRecorder(self.log, self.attempts[session_id], session_id, kind, VARIANT)

    async def day(
        self, session_id: str, digest: str, play: Callable[[SessionRecorder], Awaitable[Trajectory]]
    ) -> Trajectory:
        """A day of the past; `digest` is that of all that the agent would see of its memory now."""
        if found := self._on_disk(session_id, digest):
            return found
        recorder = self._start(session_id, "learning")
        trajectory = await play(recorder)
        self._keep(trajectory, recorder)
        return trajectory

    async def sitting(
        self,
        session_id: str,
        digest: str,
        play: Callable[[SessionRecorder], Awaitable[PlayedSitting]],
    ) -> PlayedSitting:
        """A sitting with its decisions."""
        found, log = self._on_disk(session_id, digest), self.decisions(session_id)
        if found and log:
            return PlayedSitting(found, log)
        recorder = self._start(session_id, "test")
        played = await play(recorder)
        write_atomic(self.folder.decisions(session_id), played.log.model_dump_json(indent=1) + "\n")
        self._keep(played.trajectory, recorder)
        return played

    def decisions(self, sitting_id: str) -> SittingLog | None:
        """None when there are none, or they are damaged or of another stream."""
        log = read_decisions(self.folder, sitting_id)
        return log if log and log.stream_sha256 == self.stream_sha256 else None

    def _start(self, session_id: str, kind: Literal["learning", "test"]) -> SessionRecorder:
        self.folder.trajectory(session_id).unlink(missing_ok=True)
        self.attempts[session_id] += 1
        recorder = self.recorder(session_id, kind)
        recorder.start()
        return recorder

    def _keep(self, trajectory: Trajectory, recorder: SessionRecorder) -> None:
        write_atomic(self.folder.trajectory(trajectory.session_id), trajectory.model_dump_json(indent=2))
        recorder.end()
        _log.info(
            "session done",
            session=trajectory.session_id,
            termination=trajectory.termination_reason,
            steps=trajectory.step_count,
            seconds=trajectory.duration_seconds,
        )

    def _on_disk(self, session_id: str, digest: str) -> Trajectory | None:
        path = self.folder.trajectory(session_id)
        if not path.exists():
            return None
        try:
            found = load_trajectory(path)
        except DataError as error:
            _log.warning("running again", reason=f"the file is no whole transcript: {error.reason}")
            return None
        wanted = (session_id, VARIANT, digest)
        if (found.session_id, found.agent_variant, found.context_sha256) != wanted:
            _log.warning("running again", reason="the session would see another memory context now")
            return None
        return found


def read_decisions(folder: TimingFolder, sitting_id: str) -> SittingLog | None:
    """None when there are none or they are damaged."""
    try:
        return SittingLog.model_validate_json(read_text(folder.decisions(sitting_id)))
    except (DataError, ValidationError):
        return None
