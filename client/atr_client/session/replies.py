"""Makes a model's reply fit to be written down and sent on, whatever the model produced."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from atr_client.models.base import ModelReply
from atr_client.models.call_ids import is_renamed, unique_id
from atr_data.limits import check_arguments, is_storable
from atr_data.trajectory import ToolCall


def usable(reply: ModelReply, taken: Collection[str] = ()) -> ModelReply:
    """Text that no encoding can carry is replaced sign by sign. Arguments that no wire can carry become {}
    with the reason in `parse_error`, so that the agent gets a tool error that names it, and their text in
    `raw_arguments`. A native payload that no file of ours can hold is left out. A call whose id is
    among those `taken` earlier in the session, or comes twice, gets another one."""
    used = set(taken)
    return replace(
        reply,
        content=None if reply.content is None else _encodable(reply.content),
        reasoning_content=None if reply.reasoning_content is None else _encodable(reply.reasoning_content),
        tool_calls=[_usable_call(call, used) for call in reply.tool_calls],
        native_assistant_payload=_storable(reply.native_assistant_payload),
    )


def _storable(payload: dict[str, Any] | list[Any] | None) -> dict[str, Any] | list[Any] | None:
    return payload if is_storable(payload) else None


def faults(reply: ModelReply, offered: Collection[str]) -> Iterator[str]:
    """What is wrong with a usable reply, a word for each time; `offered` are the names of the tools.

    None of it ends a session: the agent sees a tool error, or is asked again, or its text stands as it is.
    """
    if reply.is_empty:
        yield "empty_reply"
    if reply.finish in ("length", "refusal", "content_filter"):
        yield {"length": "truncated"}.get(reply.finish, reply.finish)
    for call in reply.tool_calls:
        if call.parse_error is not None:
            yield "unusable_arguments"
        if call.name not in offered:
            yield "unknown_tool"
        if is_renamed(call.id):
            yield "duplicate_call_id"


def _usable_call(call: ToolCall, used: set[str]) -> ToolCall:
    unfit = None if call.parse_error else check_arguments(call.arguments)
    call_id = unique_id(_encodable(call.id), used)
    used.add(call_id)
    raw = _text_of(call.arguments) if unfit else call.raw_arguments
    return ToolCall(
        id=call_id,
        name=_encodable(call.name),
        arguments={} if unfit or call.parse_error else call.arguments,
        parse_error=call.parse_error or unfit,
        raw_arguments=None if raw is None else _encodable(raw),
    )


def _text_of(arguments: dict[str, Any]) -> str | None:
    """None when not even Python can spell it: nested or counted without end."""
    try:
        return json.dumps(arguments, default=repr)
    except (RecursionError, ValueError):
        return None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
