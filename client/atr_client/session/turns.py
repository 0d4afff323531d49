"""The turn loop: the state machine that runs one session.

A step is one accepted reply of the agent. A reply with tool calls is a tool turn. A reply without is a text
turn: free narration while the user is away, and a leak while the user listens, because the user hears only
`send_to_user`. The loop knows the agent, the user and the environment by their protocols alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from atr_client.errors import CellAbort, ContextOverflow, ModelError, OutOfTime
from atr_client.models.base import AgentModel, ModelReply, ToolSpec
from atr_client.session.prompting import prompt
from atr_client.session.replies import faults, usable
from atr_client.session.transcript import Transcript
from atr_data.constants import FINISH_ACK, FINISH_SESSION, SEND_ACK, SEND_TO_USER, USER_END
from atr_data.trajectory import InteractionEvent, Message, TerminationReason, ToolCall
from atr_data.usage import Usage
from atr_user_sim.history import render_history
from atr_user_sim.interface import HistoryEntry, SimulatedUser

LEAK_BUDGET = 5
IDLE_BUDGET = 5
REPAIRS_PER_LEAK = 3
CALLS_PER_STEP = 3


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """`max_steps` counts agent replies, `timeout` is in seconds from the start of the session (None: no
    limit) and looked at between steps, `hook` switches the repair of leaks on."""

    max_steps: int = 20
    timeout: float | None = None
    hook: bool = False


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What the environment answered: JSON text, and whether it is an error."""

    content: str
    is_error: bool


class Environment(Protocol):
    """The tools of one session."""

    async def tools(self) -> Sequence[ToolSpec]: ...

    async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome: ...


@dataclass(frozen=True, slots=True)
class End:
    """Why a session is over."""

    reason: TerminationReason
    subreason: str | None = None


class TurnLoop:
    """One session from its first message to its end. Use once: `await TurnLoop(...).run(opening)`."""

    def __init__(
        self,
        *,
        session_id: str,
        session_type: Literal["learning", "test"],
        agent: AgentModel,
        user: SimulatedUser | None,
        environment: Environment,
        tools: Sequence[ToolSpec],
        settings: SessionSettings,
        transcript: Transcript,
        started: float,
    ) -> None:
        self._session_id = session_id
        self._user = user if session_type == "learning" else None
        self._agent = agent
        self._environment = environment
        self._tools = tools
        self._settings = settings
        self._transcript = transcript
        self._started = started
        self._rescued: ModelReply | None = None
        self._idle = 0
        self._leaks = 0
        self.step = 0

    async def run(self) -> End:
        """Runs until the session ends; a conversation that outgrows the agent's context is an end too.

        Nothing is cut off in mid step: a provider or a server that lets one hang has a time-out of its own,
        and its failure is no end of a session. Raises CellAbort when something around the agent fails for
        good.
        """
        end = None
        while end is None and self.step < self._settings.max_steps:
            if self._is_over_time():
                return End("timeout")
            self.step += 1
            try:
                end = await self._take_step()
            except ContextOverflow:
                return End("context_overflow")
            except OutOfTime:
                return End("timeout")
        return end or End("max_steps")

    def _is_over_time(self) -> bool:
        timeout = self._settings.timeout
        return timeout is not None and time.monotonic() - self._started > timeout

    async def _take_step(self) -> End | None:
        rescued, self._rescued = self._rescued, None
        reply = rescued or await self._agent_reply()
        if reply is None:
            return End("agent_empty_response", f"empty_after_{CALLS_PER_STEP}_attempts")
        if reply.tool_calls:
            return await self._tool_turn(reply, was_rescued=rescued is not None)
        if self._user is None:
            self._transcript.assistant(reply, None)
            return None
        return await self._leak(reply, self._user)

    async def _agent_reply(self) -> ModelReply | None:
        for _ in range(CALLS_PER_STEP):
            reply = await self._ask_agent(self._transcript.messages, "agent")
            if not reply.is_empty:
                return reply
        return None

    async def _ask_agent(
        self, messages: Sequence[Message], module: Literal["agent", "hook_retry"]
    ) -> ModelReply:
        try:
            reply = await self._agent.respond(messages, self._tools)
        except (ContextOverflow, OutOfTime):
            raise
        except ModelError as error:
            raise CellAbort(module, self._session_id, str(error)) from error
        reply = usable(reply, self._transcript.call_ids)
        self._transcript.count({"agent": reply.usage or Usage()})
        self._transcript.note_faults(faults(reply, {tool.name for tool in self._tools}))
        return reply

    # Tool turns

    async def _tool_turn(self, reply: ModelReply, *, was_rescued: bool) -> End | None:
        kept = reply.tool_calls if self._user is None else _with_one_send(reply.tool_calls)
        index = self._transcript.assistant(reply, kept)
        if self._user is not None:
            self._transcript.events += _channel_events(reply.tool_calls, index)
        sent: ToolCall | None = None
        finished = productive = False
        for call in kept:
            if call.name == FINISH_SESSION and self._user is None:
                self._transcript.tool(call, FINISH_ACK, False)
                finished = productive = True
            elif call.name == SEND_TO_USER and self._user is not None:
                self._note_send(call, index, was_rescued)
                self._transcript.tool(call, SEND_ACK, False)
                sent, productive = call, True
            else:
                outcome = await self._environment.call(call, index)
                self._transcript.tool(call, outcome.content, outcome.is_error)
                productive = productive or _is_productive(outcome)
        if self._user is not None:
            return await self._after_learning_tools(self._user, sent, index, productive)
        return End("agent_stop") if finished else None

    def _note_send(self, call: ToolCall, index: int, was_rescued: bool) -> None:
        self._transcript.events.append(
            InteractionEvent(
                kind="send_event",
                turn_idx=index,
                output=call.text("output"),
                reason=call.text("reason"),
                was_hook_rescued=was_rescued,
            )
        )

    async def _after_learning_tools(
        self, user: SimulatedUser, sent: ToolCall | None, index: int, productive: bool
    ) -> End | None:
        if sent is not None:
            output, reason = sent.text("output"), sent.text("reason")
            history = render_history(self._transcript.messages, exclude_call_id=sent.id)
            if await self._user_hears(user, output, reason, index, history):
                return End("task_complete")
        self._idle = 0 if productive else self._idle + 1
        if self._idle == IDLE_BUDGET:
            return End("task_no_progress", "tool_loop")
        self._leaks = 0
        return None

    # Text turns while the user listens

    async def _leak(self, reply: ModelReply, user: SimulatedUser) -> End | None:
        index = self._transcript.assistant(reply, None)
        text = reply.content or ""
        self._idle = 0
        if self._settings.hook and (repaired := await self._repair(text, index)):
            self._transcript.take_back()
            self._rescued = repaired
            return None
        self._transcript.events.append(
            InteractionEvent(kind="off_protocol_ask", turn_idx=index, question=text)
        )
        history = render_history(self._transcript.messages, before_turn=index)
        reason = f"{prompt('off_protocol_reason')}\n{text}"
        if await self._user_hears(user, text, reason, index, history):
            return End("task_complete")
        self._leaks += 1
        return End("task_no_progress", "stu_loop") if self._leaks == LEAK_BUDGET else None

    async def _repair(self, leaked: str, index: int) -> ModelReply | None:
        """Asks the agent to send the leaked text again; the first reply that sends something wins."""
        note = Message(role="user", content=prompt("repair_note"), turn_idx=self._transcript.next_index)
        for _ in range(REPAIRS_PER_LEAK):
            self._transcript.events.append(
                InteractionEvent(kind="hook_appended", turn_idx=index, question=leaked)
            )
            reply = await self._ask_agent([*self._transcript.messages, note], "hook_retry")
            if any(call.name == SEND_TO_USER for call in reply.tool_calls):
                return reply
        return None

    async def _user_hears(
        self, user: SimulatedUser, output: str, reason: str, index: int, history: Sequence[HistoryEntry]
    ) -> bool:
        """Appends what the user answers. True when the user ended the session."""
        turn = await user.hear(
            agent_text=output, output=output, reason=reason, turn_idx=index, history=history
        )
        self._transcript.events += turn.events
        self._transcript.count(turn.usage)
        self._transcript.user(USER_END if turn.ended else turn.message)
        return turn.ended


def _with_one_send(calls: Sequence[ToolCall]) -> list[ToolCall]:
    first = next((call for call in calls if call.name == SEND_TO_USER), None)
    return [call for call in calls if call.name != SEND_TO_USER or call is first]


def _channel_events(calls: Sequence[ToolCall], index: int) -> list[InteractionEvent]:
    """What is worth noting when the user's channel was not used alone, as the agent sent the calls."""
    siblings = [call.name for call in calls if call.name != SEND_TO_USER]
    sends = len(calls) - len(siblings)
    events: list[InteractionEvent] = []
    if sends and siblings:
        events.append(
            InteractionEvent(kind="stu_mixed_with_tools", turn_idx=index, sibling_tool_names=siblings)
        )
    if sends > 1:
        events.append(
            InteractionEvent(kind="stu_duplicate_same_turn", turn_idx=index, duplicate_count=sends - 1)
        )
    return events


def _is_productive(outcome: ToolOutcome) -> bool:
    if outcome.is_error:
        return False
    try:
        body: Any = json.loads(outcome.content)
    except ValueError:
        return True
    return not (isinstance(body, dict) and "count" in body and body["count"] == 0)
