"""One sitting from its first event to its last: the agent decides, the workstream goes on.

Text in place of a call gets one reminder per event, then counts as silence that is marked. What ends a
sitting early leaves the rest of it as silence and the sitting incomplete.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from atr_client.errors import ContextOverflow, OutOfTime
from atr_client.models.base import AgentModel, ModelReply, ToolSpec
from atr_client.session.recorder import SessionRecorder
from atr_client.session.transcript import Transcript
from atr_client.session.turns import End, Environment
from atr_client.timing.agent_turns import ask
from atr_client.timing.note_tool import NotePad
from atr_client.timing.timing_prompts import timing_prompt
from atr_data.trajectory import Message
from atr_servers.timing.tools import Workstream


@dataclass(frozen=True, slots=True)
class SittingLimits:
    """`turn_budget` is how many replies one decision may take, `timeout` seconds for the whole sitting (None:
    any). `forgets`: messages about events that have left the history window are not shown again, so that a
    sitting's cost is linear in its events; an agent from outside keeps its own conversation."""

    turn_budget: int = 8
    timeout: float | None = None
    forgets: bool = True


class SittingLoop:
    """Use once: `await SittingLoop(...).run()`. The transcript has its first two messages already."""

    def __init__(
        self,
        *,
        recorder: SessionRecorder,
        agent: AgentModel,
        environment: Environment,
        workstream: Workstream,
        tools: Sequence[ToolSpec],
        pad: NotePad | None,
        transcript: Transcript,
        limits: SittingLimits,
    ) -> None:
        self._recorder, self._agent, self._environment = recorder, agent, environment
        self._workstream, self._state = workstream, workstream.state
        self._tools, self._pad, self._transcript, self._limits = tools, pad, transcript, limits
        self._started = time.monotonic()
        self._turns = 0
        self._reminded = False
        self._head: int | None = None
        self._blocks: list[tuple[int, float]] = []
        self.step = 0

    async def run(self) -> End:
        """Raises CellAbort when agent or server cannot be reached any more."""
        try:
            while (end := self._end()) is None:
                if not await self._take_turn():
                    end = End("agent_empty_response")
                    break
        except ContextOverflow:
            end = End("context_overflow")
        except OutOfTime:
            end = End("timeout")
        if self._state.status == "running":
            self._state.abort()
        return end

    def _end(self) -> End | None:
        if self._state.status == "finished":
            return End("agent_stop")
        if self._state.status == "aborted":
            return End("task_no_progress", "errors_in_a_row")
        if self._limits.timeout is not None and time.monotonic() - self._started > self._limits.timeout:
            return End("timeout")
        return End("task_no_progress", "turn_budget") if self._turns >= self._limits.turn_budget else None

    async def _take_turn(self) -> bool:
        """False when the agent has nothing to say."""
        before, start = self._state.decided, self._transcript.next_index
        session_id = self._recorder.session_id
        reply = await ask(self._agent, self._transcript, self._visible(), self._tools, session_id)
        if reply is None:
            return False
        self.step += 1
        if reply.tool_calls:
            await self._call(reply)
        else:
            self._take_text(reply)
        decided = self._state.decided > before
        self._turns = 0 if decided else self._turns + 1
        self._reminded = self._reminded and not decided
        if (current := self._state.current) is not None:
            if self._head is None:
                self._head = self._transcript.next_index
            self._blocks.append((start, current.t_release.timestamp()))
        return True

    async def _call(self, reply: ModelReply) -> None:
        index = self._transcript.assistant(reply, reply.tool_calls)
        for call in reply.tool_calls:
            reached = self._pad if self._pad and self._pad.has(call.name) else self._environment
            outcome = await reached.call(call, index)
            self._transcript.tool(call, outcome.content, outcome.is_error)

    def _take_text(self, reply: ModelReply) -> None:
        self._transcript.assistant(reply, None)
        if self._reminded and self._state.current is not None:
            released = self._workstream.implicit_silence()
            self._transcript.user(json.dumps({"taken_as": "silence", **released}, ensure_ascii=False))
        else:
            self._reminded = True
            self._transcript.user(timing_prompt("reminder"))

    def _visible(self) -> Sequence[Message]:
        """The sitting's beginning, and every turn that showed an event within the history window."""
        messages, current = self._transcript.messages, self._state.current
        if not self._limits.forgets or self._head is None or current is None:
            return messages
        oldest = current.t_release.timestamp() - self._workstream.window
        kept = next(start for start, at in self._blocks if at >= oldest)
        return messages if kept <= self._head else [*messages[: self._head], *messages[kept:]]
