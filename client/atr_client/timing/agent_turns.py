"""One reply of an agent, made fit to be kept, with what it took."""

from __future__ import annotations

from collections.abc import Sequence

from atr_client.errors import CellAbort, ContextOverflow, ModelError, OutOfTime
from atr_client.models.base import AgentModel, ModelReply, ToolSpec
from atr_client.session.replies import faults, usable
from atr_client.session.transcript import Transcript
from atr_client.session.turns import CALLS_PER_STEP
from atr_data.trajectory import Message
from atr_data.usage import Usage


async def ask(
    agent: AgentModel,
    transcript: Transcript,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    session_id: str,
) -> ModelReply | None:
    """None when the agent said nothing several times over. Raises CellAbort when it cannot be reached,
    ContextOverflow and OutOfTime as they came: those are outcomes."""
    for _ in range(CALLS_PER_STEP):
        try:
            reply = await agent.respond(messages, tools)
        except (ContextOverflow, OutOfTime):
            raise
        except ModelError as error:
            raise CellAbort("agent", session_id, str(error)) from error
        reply = usable(reply, transcript.call_ids)
        transcript.count({"agent": reply.usage or Usage()})
        transcript.note_faults(faults(reply, {tool.name for tool in tools}))
        if not reply.is_empty:
            return reply
    return None
