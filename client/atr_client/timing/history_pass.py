"""The pass over the days before evaluation, for agents that keep their own memory.

It has a session per day, in which the agent reads the day and notes what it wants to know later.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import groupby

from atr_client.errors import ContextOverflow, OutOfTime
from atr_client.models.base import AgentModel
from atr_client.session.transcript import Transcript
from atr_client.session.turns import End
from atr_client.timing.agent_turns import ask
from atr_client.timing.note_tool import FINISH_DAY, NotePad
from atr_client.timing.played_sitting import VARIANT
from atr_client.timing.timing_prompts import day_prompt
from atr_data.timing.events import Stream, WorkEvent
from atr_data.trajectory import Trajectory
from atr_servers.timing.showing import shown

MOST_REPLIES = 12
"""Replies that an agent has for one day."""


def history_days(stream: Stream) -> Mapping[str, Sequence[WorkEvent]]:
    """The events of each day before evaluation, by the session that shows them, in order."""
    past = [event for event in stream.events if event.t_release < stream.header.first_evaluation_day]
    days = groupby(past, key=lambda event: event.t_release.date())
    return {f"day-{number:02d}": tuple(events) for number, (_, events) in enumerate(days, start=1)}


async def play_day(
    agent: AgentModel,
    session_id: str,
    events: Sequence[WorkEvent],
    pad: NotePad,
) -> Trajectory:
    """Shows a day until the agent says that it is done, by text or by a call. Raises CellAbort when it cannot
    be reached."""
    tools = pad.tools()
    started = time.monotonic()
    transcript = Transcript()
    transcript.system(day_prompt(pad.memory.context, remembers=pad.remembers))
    transcript.user("\n".join(_line(event) for event in events))
    end, steps = End("max_steps"), 0
    while steps < MOST_REPLIES:
        try:
            reply = await ask(agent, transcript, transcript.messages, tools, session_id)
        except ContextOverflow:
            end = End("context_overflow")
            break
        except OutOfTime:
            end = End("timeout")
            break
        if reply is None:
            end = End("agent_empty_response")
            break
        steps += 1
        index = transcript.assistant(reply, reply.tool_calls or None)
        if not reply.tool_calls:
            end = End("agent_stop")
            break
        for call in reply.tool_calls:
            outcome = await pad.call(call, index)
            transcript.tool(call, outcome.content, outcome.is_error)
        if any(call.name == FINISH_DAY for call in reply.tool_calls):
            end = End("agent_stop")
            break
    trajectory = Trajectory(
        session_id=session_id,
        session_type="learning",
        agent_variant=VARIANT,
        messages=transcript.messages,
        termination_reason=end.reason,
        step_count=steps,
        duration_seconds=round(time.monotonic() - started, 2),
        token_usage=transcript.usage,
        reply_faults=dict(sorted(transcript.reply_faults.items())),
    )
    await pad.close(trajectory)
    return trajectory


def _line(event: WorkEvent) -> str:
    fields = shown(event)
    parts = [fields["time"][11:19], fields["app"], fields["window_title"]]
    parts += [fields[name] for name in ("summary", "screen_text") if name in fields]
    return " | ".join([*(["self_help"] if event.self_help else []), *parts])
