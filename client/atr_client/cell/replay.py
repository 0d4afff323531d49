"""Playing the logged calls of a cell again: a fresh environment must give what the log says it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from atr_client.errors import CellAbort
from atr_client.session.environments import McpEnvironment, open_environment, unusable
from atr_client.session.recorder import SessionRecorder
from atr_client.session.turns import ToolOutcome
from atr_data.calls import CallRecord, LogRecord
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import ToolCall, Trajectory
from atr_evaluator import Attempt, TranscriptCall, transcript_calls


@dataclass(slots=True)
class Replayed:
    """`differences` holds the first one of each session; `calls` were played again, `left_out` went to other
    servers than the session's domain."""

    differences: list[str] = field(default_factory=list[str])
    calls: int = 0
    left_out: int = 0


async def replay(
    episode: Episode, attempts: Mapping[str, Attempt], trajectories: Mapping[str, Trajectory]
) -> Replayed:
    """Every call of the agents of a cell, session by session, in the order of the log.

    What the harness answered itself is worked out from the transcript: that arguments could not be read.
    """
    sessions = {s.session_id: s for s in (*episode.learning_sessions, *episode.test_sessions)}
    found = Replayed()
    for name, attempt in attempts.items():
        if session := sessions.get(name):
            difference = await _session(episode, session, attempt.calls, trajectories.get(name), found)
        else:
            difference = "the episode has no such session"
        if difference:
            found.differences.append(f"{name}: {difference}")
    return found


async def _session(
    episode: Episode,
    session: LearningSession | TestSession,
    calls: Sequence[CallRecord],
    trajectory: Trajectory | None,
    found: Replayed,
) -> str | None:
    told = transcript_calls(trajectory) if trajectory else []
    recorder = SessionRecorder(_Unlogged(), 0, session.session_id, session.session_type, "")
    try:
        async with open_environment(episode, session, recorder) as environment:
            for number, (record, ours) in enumerate(zip_longest(calls, told), start=1):
                if record is None:
                    break
                if record.server != session.domain:
                    found.left_out += 1
                    continue
                found.calls += 1
                if ToolOutcome(record.result, record.is_error) != await _answer(environment, record, ours):
                    return f"call {number} ({record.tool}) gives another result"
    except (CellAbort, ValueError) as error:
        return str(error)
    return None


async def _answer(
    environment: McpEnvironment, record: CallRecord, ours: TranscriptCall | None
) -> ToolOutcome:
    """What must stand in the log as the answer to a call."""
    if ours is not None and ours.call.parse_error is not None:
        return unusable(ours.call)
    call = ToolCall(id=record.call_id, name=record.tool, arguments=record.arguments)
    return await environment.call(call, record.turn_idx)


class _Unlogged:
    def append(self, record: LogRecord) -> None: ...
