"""Null models that make more than one write: what a pass mark that reads single calls lets through.

Like the other null models they never learn a rule. No model is held against them, as what they win is won by
manner and not by a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atr_client.agents.filling import action_arguments
from atr_client.agents.nulls import First, NullAgent
from atr_client.agents.reading import View, is_writing
from atr_client.agents.remembering import Memory
from atr_client.models.base import ModelReply, ToolSpec
from atr_data.constants import CONFIRMATION
from atr_data.trajectory import Message, ToolCall


@dataclass(frozen=True, slots=True)
class Confirming:
    """As First, but asks to confirm every write before it makes it."""

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        reply = await NullAgent(First()).respond(messages, tools)
        view = View(messages, tools)
        asked = any(done.call.name == CONFIRMATION for done in view.done)
        calls = [call if asked or view.is_learning else _announced(call) for call in reply.tool_calls]
        return ModelReply(tool_calls=calls)


def _announced(call: ToolCall) -> ToolCall:
    if not is_writing(call.name):
        return call
    arguments = {"target_tool": call.name, "target_params": call.arguments}
    return call.model_copy(update={"name": CONFIRMATION, "arguments": arguments})


@dataclass(frozen=True, slots=True)
class Spraying:
    """As First, and then calls every other tool that writes, all at once."""

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        view = View(messages, tools)
        left = [tool for tool in tools if is_writing(tool.name)]
        tried = {done.call.name for done in view.writes}
        left = [tool for tool in left if tool.name not in tried]
        if view.is_learning or not tried or not left:
            return await NullAgent(First()).respond(messages, tools)
        memory = Memory((), view.request, view.tools)
        return ModelReply(
            tool_calls=[
                ToolCall(
                    id=f"call_{len(view.messages)}_{place}",
                    name=tool.name,
                    arguments=action_arguments(tool, memory, view.rows),
                )
                for place, tool in enumerate(left)
            ]
        )
