"""The calls that an agent made, as its transcript tells them and as the call log does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from atr_data.calls import CallRecord, LogRecord, SessionEnd
from atr_data.constants import FINISH_ACK, FINISH_SESSION, SEND_ACK, SEND_TO_USER
from atr_data.trajectory import Message, ToolCall, Trajectory

_ACKS = {SEND_TO_USER: SEND_ACK, FINISH_SESSION: FINISH_ACK}


class TranscriptCall(NamedTuple):
    """A call of the agent with the message that answered it, None when nothing did."""

    turn_idx: int
    call: ToolCall
    answer: Message | None


def transcript_calls(trajectory: Trajectory) -> list[TranscriptCall]:
    """The calls that went to a tool server, in order: what the turn loop answered itself is left out. Ids may
    repeat within a session, so a call's answer is looked for before the next batch only."""
    found: list[TranscriptCall] = []
    answers: dict[str | None, Message] = {}
    for message in reversed(trajectory.messages):
        if message.role == "tool":
            answers[message.tool_call_id] = message
        elif message.role == "assistant" and message.tool_calls:
            batch = [TranscriptCall(message.turn_idx, c, answers.get(c.id)) for c in message.tool_calls]
            found += [one for one in reversed(batch) if not _answered_by_the_loop(one)]
            answers = {}
    return found[::-1]


def _answered_by_the_loop(one: TranscriptCall) -> bool:
    return one.answer is not None and one.call.name in _ACKS and one.answer.content == _ACKS[one.call.name]


@dataclass(frozen=True, slots=True)
class Attempt:
    """The last finished attempt of a session: the record of its end, and the agent's calls in it."""

    end: SessionEnd
    calls: list[CallRecord] = field(default_factory=list[CallRecord])


def finished_attempts(records: Iterable[LogRecord]) -> dict[str, Attempt]:
    """By session id. An attempt without a `session_end` left no trajectory; calls of the harness do not
    count."""
    calls: dict[tuple[str, int], list[CallRecord]] = {}
    ends: dict[str, SessionEnd] = {}
    for record in records:
        if record.record == "session_end":
            ends[record.session_id] = record
        elif record.record == "call" and record.caller == "agent":
            calls.setdefault((record.session_id, record.attempt), []).append(record)
    return {name: Attempt(end, calls.get((name, end.attempt), [])) for name, end in ends.items()}
