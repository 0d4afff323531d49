"""Calls of tools, between a provider's form and this project's."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, cast

from atr_client.models.base import Finish
from atr_client.models.call_ids import unique_id
from atr_client.models.wire import CallIdForm, Endpoint
from atr_data.limits import check_arguments
from atr_data.trajectory import Message, ToolCall

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")
_READABLE = 48
"""Letters that stay of a name or an id that must be made anew."""


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


def legal_name(name: str) -> str:
    """The name of a call as all providers take it. Models call what nobody offered, and the transcript keeps
    it; on the wire a name of other signs gets a digest behind it, so that it neither meets another one nor
    looks like a tool that there is."""
    return name if _NAME.fullmatch(name) else _made_legal(name, "unnamed")


def legal_id(call_id: str, form: CallIdForm = "any") -> str:
    """The id of a call as all providers take it; `short` is nine letters or digits."""
    if form == "short":
        return call_id if _SHORT_ID.fullmatch(call_id) else _digest(call_id)[:9]
    return call_id if _ID.fullmatch(call_id) else _made_legal(call_id, "call")


def _made_legal(text: str, empty: str) -> str:
    """One text gives always the same, and begins with a letter."""
    kept = _FOREIGN.sub("_", text).strip("_-")[:_READABLE] or empty
    return f"{kept if kept[0].isalpha() else f'_{kept}'}_{_digest(text)[:8]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_call(call_id: str, name: str | None, arguments: object) -> ToolCall:
    """A call as this project writes it, with the arguments as they were sent when they cannot be used.
    Nothing sent for arguments, or null, means none; some servers send an object in place of JSON text."""
    value, problem = _arguments(arguments)
    return ToolCall(
        id=call_id,
        name=name or "",
        arguments=value,
        parse_error=problem,
        raw_arguments=_as_text(arguments) if problem else None,
    )


def _arguments(sent: object) -> tuple[dict[str, Any], str | None]:
    value: Any = sent
    if isinstance(sent, str):
        try:
            value = json.loads(sent) if sent.strip() else None
        except (ValueError, RecursionError) as error:
            return {}, f"arguments are not JSON: {error}"
    if value is None:
        return {}, None
    if not isinstance(value, dict):
        return {}, f"arguments must be a JSON object, got {_kind(value)}"
    problem = check_arguments(cast("dict[str, Any]", value))
    return ({}, problem) if problem else (cast("dict[str, Any]", value), None)


def _as_text(sent: object) -> str:
    return sent if isinstance(sent, str) else json.dumps(sent, ensure_ascii=False)


def _kind(value: object) -> str:
    names: dict[type[Any], str] = {list: "array", str: "string", bool: "boolean"}
    return names.get(type(value), "number")


def sent_arguments(call: ToolCall) -> str:
    """Arguments as they go back to the provider; those that could not be read are none, and go back as {}."""
    return json.dumps(call.arguments, ensure_ascii=False)


def stored_payload(message: Message, endpoint: Endpoint, payload_format: str) -> Any:
    """What the provider made of an assistant message, to be sent back as it came. None when there is nothing
    of this format, or when the endpoint wants the transcript's words alone."""
    fits = endpoint.faithful_replay and message.native_payload_format == payload_format
    return message.native_assistant_payload if fits else None


def finish_of(calls: Sequence[ToolCall], cut: Finish | None) -> Finish:
    """Why a reply ended: what cut it short, else whether it calls tools, whatever the provider named it."""
    return cut or ("tool_calls" if calls else "stop")
