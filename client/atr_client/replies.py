"""Makes a model's reply fit to be written down and sent on, whatever the model produced."""

from __future__ import annotations

from dataclasses import replace

from atr_client.models.base import ModelReply
from atr_data.limits import check_arguments
from atr_data.trajectory import ToolCall


def usable(reply: ModelReply) -> ModelReply:
    """Text that no encoding can carry is replaced sign by sign. Arguments that no wire can carry become {}
    with the reason in `parse_error`, so that the agent gets a tool error that names it."""
    return replace(
        reply,
        content=None if reply.content is None else _encodable(reply.content),
        reasoning_content=None if reply.reasoning_content is None else _encodable(reply.reasoning_content),
        tool_calls=[_usable_call(call) for call in reply.tool_calls],
    )


def _usable_call(call: ToolCall) -> ToolCall:
    problem = call.parse_error or check_arguments(call.arguments)
    return ToolCall(
        id=_encodable(call.id),
        name=_encodable(call.name),
        arguments={} if problem else call.arguments,
        parse_error=problem,
    )


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
