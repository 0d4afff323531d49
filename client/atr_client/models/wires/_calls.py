"""Calls of tools, between a provider's form and this project's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from atr_client.models.base import Finish
from atr_client.models.call_ids import unique_id
from atr_data.trajectory import Message, ToolCall


class CallIds:
    """Ids for the calls of one reply. A call without an id gets one of its own; one that the conversation has
    already gets a mark behind it. Ids are made from positions, so that a replay makes the same."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._taken = {call.id for message in messages for call in message.tool_calls or ()}
        self._turn = len(messages)
        self._made = 0

    def unique(self, given: str | None) -> str:
        """`given` when it is fit, else a new id."""
        call_id = unique_id(given, self._taken) if given else self._made_up()
        self._taken.add(call_id)
        return call_id

    def _made_up(self) -> str:
        while (call_id := f"call_{self._turn}_{self._made}") in self._taken:
            self._made += 1
        return call_id


def read_call(call_id: str, name: str | None, arguments: object) -> ToolCall:
    """A call as this project writes it. Nothing sent for arguments means none; some servers send an object
    in place of JSON text."""
    value, problem = _arguments(arguments)
    return ToolCall(id=call_id, name=name or "", arguments=value, parse_error=problem)


def _arguments(sent: object) -> tuple[dict[str, Any], str | None]:
    value: Any = sent
    if isinstance(sent, str) or sent is None:
        try:
            value = json.loads(sent) if sent and sent.strip() else {}
        except (ValueError, RecursionError) as error:
            return {}, f"arguments are not JSON: {error}"
    if not isinstance(value, dict):
        return {}, f"arguments must be a JSON object, got {_kind(value)}"
    return cast("dict[str, Any]", value), None


def _kind(value: object) -> str:
    names: dict[type[Any], str] = {list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def sent_arguments(call: ToolCall) -> str:
    """Arguments as they go back to the provider; those that could not be read are none, and go back as {}."""
    return json.dumps(call.arguments, ensure_ascii=False)


def finish_of(calls: Sequence[ToolCall], cut: Finish | None) -> Finish:
    """Why a reply ended: what cut it short, else whether it calls tools, whatever the provider named it."""
    return cut or ("tool_calls" if calls else "stop")
