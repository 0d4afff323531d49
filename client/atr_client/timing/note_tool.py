"""The one tool that the harness answers itself: an agent's notes, which the memory server keeps."""

from __future__ import annotations

import json
import time

from atr_client.models.base import ToolSpec
from atr_client.session.recorder import SessionRecorder
from atr_client.session.turns import ToolOutcome
from atr_data.trajectory import Message, ToolCall, Trajectory

REMEMBER = "remember"
LONGEST_NOTE = 500

REMEMBER_SPEC = ToolSpec(
    REMEMBER,
    "Keep a note about this person for later sittings.",
    {
        "type": "object",
        "properties": {"note": {"type": "string", "minLength": 1, "maxLength": LONGEST_NOTE}},
        "required": ["note"],
        "additionalProperties": False,
    },
)


FINISH_DAY = "finish_day"

FINISH_DAY_SPEC = ToolSpec(
    FINISH_DAY,
    "Everything of this day that matters has been noted.",
    {"type": "object", "properties": {}, "additionalProperties": False},
)


def keep_note(call: ToolCall, notes: list[str], recorder: SessionRecorder, turn_idx: int) -> ToolOutcome:
    """Adds the note and logs the call; an error says what was wrong with it."""
    started = time.perf_counter()
    outcome = _answer(call, notes)
    recorder.call(
        turn_idx=turn_idx,
        call_id=call.id,
        caller="agent",
        server="harness",
        tool=call.name,
        arguments=call.arguments,
        result=outcome.content,
        is_error=outcome.is_error,
        seconds=time.perf_counter() - started,
        raw_arguments=call.raw_arguments,
    )
    return outcome


def _answer(call: ToolCall, notes: list[str]) -> ToolOutcome:
    if call.name == FINISH_DAY:
        return ToolOutcome(json.dumps({"day": "finished"}), is_error=False)
    if call.name != REMEMBER:
        return _refused(f"there is no tool {call.name}", "not_available")
    note = call.arguments.get("note")
    if call.parse_error is not None:
        return _refused(call.parse_error)
    if set(call.arguments) != {"note"} or not isinstance(note, str) or not note.strip():
        return _refused("note must be a text, and the only argument")
    if len(note) > LONGEST_NOTE:
        return _refused(f"note has {len(note)} characters, at most {LONGEST_NOTE}")
    notes.append(note.strip())
    return ToolOutcome(json.dumps({"kept": True, "notes": len(notes)}), is_error=False)


def _refused(message: str, code: str = "bad_argument") -> ToolOutcome:
    error = {"code": code, "message": message, "hint": f"call {REMEMBER} with one text, `note`"}
    return ToolOutcome(json.dumps(error, ensure_ascii=False), is_error=True)


def noted(trajectory: Trajectory) -> list[str]:
    """The notes of a session that was played."""
    answers = {m.tool_call_id: m for m in trajectory.messages if m.role == "tool"}
    return [
        str(call.arguments["note"]).strip()
        for message in trajectory.messages
        for call in message.tool_calls or ()
        if call.name == REMEMBER and call.id in answers and not answers[call.id].tool_error
    ]


def as_remembered(trajectory: Trajectory) -> Trajectory:
    """The session with nothing but its notes, as the memory takes it."""
    messages = [Message(role="assistant", content=note) for note in noted(trajectory)]
    return trajectory.model_copy(update={"messages": messages})
