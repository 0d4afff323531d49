"""An agent's notes in memory mode `own`: the memory server keeps them, in whichever layer."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from atr_client.models.base import ToolSpec
from atr_client.session.agent_memory import AgentMemory
from atr_client.session.turns import ToolOutcome
from atr_data.trajectory import Message, ToolCall, Trajectory
from atr_memory import MemoryLayer

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


def writes_by_tools(layer: MemoryLayer) -> bool:
    """Whether an agent writes into the memory by tools of the memory's own; if not, by `remember`."""
    return layer.offers and layer.rewords


@dataclass(slots=True)
class NotePad:
    """What an agent can keep and look up in one session: `remember`, unless the memory has tools of its own
    to write with, and whatever tools the memory has. `of_day`: it can also say that a day is done."""

    memory: AgentMemory
    remembers: bool
    of_day: bool = False
    kept: int = 0

    def tools(self, taken: Sequence[str] = ()) -> list[ToolSpec]:
        """Names in `taken` are in use already."""
        own = [REMEMBER_SPEC] if self.remembers else []
        own += [FINISH_DAY_SPEC] if self.of_day else []
        return [*own, *self.memory.tools([*taken, *(spec.name for spec in own)])]

    def has(self, name: str) -> bool:
        return self.memory.has(name) or (self.remembers and name == REMEMBER)

    async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
        """Carries a call out and logs it; an error says what was wrong with it. Raises CellAbort when the
        memory fails."""
        if self.memory.has(call.name):
            return await self.memory.call(call, turn_idx)
        started = time.perf_counter()
        outcome = self._answer(call)
        self.memory.recorder.call(
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

    async def close(self, trajectory: Trajectory) -> None:
        """Once the session is over: the trajectory is told what the memory took. What was written in a
        sitting is kept as well: see `as_remembered`."""
        await self.memory.keep(trajectory)
        self.memory.use.discarded_writes = 0

    def _answer(self, call: ToolCall) -> ToolOutcome:
        if self.of_day and call.name == FINISH_DAY:
            return ToolOutcome(json.dumps({"day": "finished"}), is_error=False)
        if not self.has(call.name):
            return _refused(f"there is no tool {call.name}", "not_available")
        note = call.arguments.get("note")
        if call.parse_error is not None:
            return _refused(call.parse_error)
        if set(call.arguments) != {"note"} or not isinstance(note, str) or not note.strip():
            return _refused("note must be a text, and the only argument")
        if len(note) > LONGEST_NOTE:
            return _refused(f"note has {len(note)} characters, at most {LONGEST_NOTE}")
        self.kept += 1
        return ToolOutcome(json.dumps({"kept": True, "notes": self.kept}), is_error=False)


def _refused(message: str, code: str = "bad_argument") -> ToolOutcome:
    error = {"code": code, "message": message, "hint": f"call {REMEMBER} with one text, `note`"}
    return ToolOutcome(json.dumps(error, ensure_ascii=False), is_error=True)


def noted(trajectory: Trajectory) -> list[str]:
    """The notes of a session that was played, by whichever tool they were written."""
    answers = {m.tool_call_id: m for m in trajectory.messages if m.role == "tool"}
    return [
        str(call.arguments[_TEXTS[call.name]]).strip()
        for message in trajectory.messages
        for call in message.tool_calls or ()
        if call.name in _TEXTS and call.id in answers and not answers[call.id].tool_error
    ]


_TEXTS = {REMEMBER: "note", "memory_save": "text", "memory_update": "text"}


def as_remembered(trajectory: Trajectory, layer: MemoryLayer) -> Trajectory:
    """The session as the memory takes it: as it is where it was written to by tools of its own, else nothing
    but the notes."""
    if writes_by_tools(layer):
        return trajectory
    messages = [Message(role="assistant", content=note) for note in noted(trajectory)]
    return trajectory.model_copy(update={"messages": messages})
