"""Finished sessions as the score sees them, taken from trajectories or from the call log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from atr_data.calls import CallRecord, LogRecord
from atr_data.trajectory import Message, Trajectory
from atr_evaluator.agent_calls import finished_attempts
from atr_evaluator.match import Batch, Call


class SessionRun(NamedTuple):
    """One finished session: which it was, its batches of calls in order (of a test, the others are not
    matched), and whether it could read its rule (None: not on record)."""

    session_id: str
    session_type: Literal["learning", "test"]
    variant: str
    batches: Sequence[Batch]
    rule_readable: bool | None = None


def run_of_trajectory(trajectory: Trajectory) -> SessionRun:
    return SessionRun(
        trajectory.session_id,
        trajectory.session_type,
        trajectory.agent_variant,
        [] if trajectory.session_type == "learning" else _batches_of_messages(trajectory.messages),
        trajectory.rule_readable,
    )


def _batches_of_messages(messages: Sequence[Message]) -> list[Batch]:
    """Ids may repeat within a session, so a call's answer is looked for before the next batch only.

    Arguments unfit for the wire count as none, as they do in the call log: they were never sent.
    """
    batches: list[Batch] = []
    answers: dict[str | None, bool | None] = {}
    for message in reversed(messages):
        if (role := message.role) == "tool":
            failed = message.tool_error
            answers[message.tool_call_id] = None if failed is None else not failed
        elif role == "assistant" and (calls := message.tool_calls):
            batches.append([Call(call.id, call.name, call.sent, answers.get(call.id)) for call in calls])
            answers = {}
    return batches[::-1]


def runs_of_log(records: Iterable[LogRecord]) -> list[SessionRun]:
    """The last finished attempt of each session, in the order of the trajectory files' names.

    The agent's calls of one `turn_idx` are a batch.
    """
    finished = sorted(finished_attempts(records).items(), key=lambda item: f"{item[0]}.json")
    return [
        SessionRun(name, attempt.end.session_type, attempt.end.variant, _batches_of_calls(attempt.calls))
        for name, attempt in finished
    ]


def _batches_of_calls(records: Sequence[CallRecord]) -> list[Batch]:
    return [
        [Call(record.call_id, record.tool, record.arguments, not record.is_error) for record in batch]
        for _, batch in groupby(records, key=lambda record: record.turn_idx)
    ]
