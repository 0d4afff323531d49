"""How often each session of a cell was started, over all its runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from atr_client.session.recorder import SessionRecorder
from atr_data.calls import CallLog, SessionEnd, SessionStart, read_calls
from atr_data.episode import LearningSession, TestSession


class Attempts:
    """Numbers the attempts of a cell's sessions, going on from what its call log says.

    Raises DataError when the log has a bad line anywhere but at its end.
    """

    def __init__(self, log_path: Path, log: CallLog, variant: str) -> None:
        self._log = log
        self._variant = variant
        self._started: Counter[str] = Counter()
        self._ended: Counter[str] = Counter()
        for record in read_calls(log_path):
            if isinstance(record, SessionStart):
                self._note(self._started, record.session_id, record.attempt)
            elif isinstance(record, SessionEnd):
                self._note(self._ended, record.session_id, record.attempt)

    @staticmethod
    def _note(attempts: Counter[str], session_id: str, attempt: int) -> None:
        attempts[session_id] = max(attempts[session_id], attempt)

    def current(self, session: LearningSession | TestSession) -> SessionRecorder:
        """Records for the latest attempt; its number is 0 before the first start."""
        return SessionRecorder(
            log=self._log,
            attempt=self._started[session.session_id],
            session_id=session.session_id,
            session_type=session.session_type,
            variant=self._variant,
        )

    def start(self, session: LearningSession | TestSession) -> SessionRecorder:
        self._started[session.session_id] += 1
        recorder = self.current(session)
        recorder.start()
        return recorder

    def end(self, session: LearningSession | TestSession) -> None:
        """To be called once the trajectory is on disk, also when an earlier run wrote it: that run may have
        been killed before it could say so."""
        recorder = self.current(session)
        if recorder.attempt > self._ended[session.session_id]:
            recorder.end()
