"""A conversation as generateContent takes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from atr_client.models.wire import Endpoint
from atr_client.models.wires._calls import legal_id, legal_name, stored_payload
from atr_client.models.wires._turns import alternating
from atr_data.trajectory import Message, ToolCall

UNSIGNED = "skip_thought_signature_validator"
"""What the API documents for a call that bears no signature of its own. Gemini 3 refuses a turn whose first
call has none; of parallel calls it signs the first alone."""


def contents_of(messages: Sequence[Message], endpoint: Endpoint, payload_format: str) -> list[dict[str, Any]]:
    """All messages but the system message, by turns of user and model."""
    names = {call.id: call.name for message in messages for call in message.tool_calls or ()}

    def render(message: Message) -> list[dict[str, Any]]:
        return list(_signed(_parts(message, endpoint, payload_format, names)))

    roles = {"assistant": "model", "user": "user"}
    turns = alternating(messages[1:], render)
    return [{"role": roles[turn.role], "parts": turn.pieces} for turn in turns]


def _parts(
    message: Message, endpoint: Endpoint, payload_format: str, names: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """The parts of a message: those that the provider made as they came, all others written anew."""
    if message.role == "tool":
        call_id = message.tool_call_id or ""
        name, outcome = legal_name(names.get(call_id, "")), "error" if message.tool_error else "output"
        response = {outcome: message.content or ""}
        yield {"functionResponse": {"id": legal_id(call_id), "name": name, "response": response}}
        return
    payload = stored_payload(message, endpoint, payload_format)
    if isinstance(payload, dict):
        parts = cast("dict[str, Any]", payload).get("parts")
        yield from _kept(parts or [], message.tool_calls or ())
        return
    if (message.content or "").strip():
        yield {"text": message.content}
    for call in message.tool_calls or ():
        yield {"functionCall": {**_legal(call), "args": call.arguments}}


def _legal(call: ToolCall) -> dict[str, Any]:
    return {"id": legal_id(call.id), "name": legal_name(call.name)}


def _kept(parts: list[dict[str, Any]], calls: Sequence[ToolCall]) -> Iterator[dict[str, Any]]:
    """All parts but the calls that the turn loop dropped, because the API wants as many responses as calls,
    and those that hold nothing, which it refuses. Arguments that could not be used go back as none."""
    kept = {call.id: call for call in calls}
    for part in parts:
        call = part.get("functionCall")
        if call:
            if found := kept.get(call["id"]):
                args = {"args": found.arguments} if "args" in call else {}
                yield {**part, "functionCall": {**call, **_legal(found), **args}}
        elif any(value for key, value in part.items() if key != "thought"):
            yield part


def _signed(parts: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The parts of one message, with a mark on the calls that stand before any signed one."""
    signed = False
    for part in parts:
        signed = signed or ("functionCall" in part and bool(part.get("thoughtSignature")))
        yield {**part, "thoughtSignature": UNSIGNED} if "functionCall" in part and not signed else part
