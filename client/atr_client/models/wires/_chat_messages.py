"""A conversation as Chat Completions takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from atr_client.models.wire import Endpoint
from atr_client.models.wires._calls import legal_id, legal_name, sent_arguments, stored_payload
from atr_data.trajectory import Message, ToolCall

PAYLOAD_FORMAT = "openai_chat_v1"
"""Mark of a stored payload: the message of a reply as it came."""

UNSIGNED: Mapping[str, Any] = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Gemini takes, in a call's `extra_content`, for a signature that its model did not give."""

_RENDERED = frozenset(
    {"role", "content", "tool_calls", "reasoning_content", "reasoning"}
    | {"refusal", "annotations", "audio", "function_call"}
)
"""Fields of a stored message that have their own rule, or that no server takes back."""


def message_sent(messages: Sequence[Message], endpoint: Endpoint) -> list[dict[str, Any]]:
    """All messages, the system message too."""
    natives = [_native(message, endpoint) for message in messages]
    signs = _is_gemini(natives, endpoint)
    return [
        _sent(message, native, endpoint, signs) for message, native in zip(messages, natives, strict=True)
    ]


def _native(message: Message, endpoint: Endpoint) -> dict[str, Any]:
    payload = stored_payload(message, endpoint, endpoint.payload_format or PAYLOAD_FORMAT)
    return cast("dict[str, Any]", payload) if isinstance(payload, dict) else {}


def _sent(message: Message, native: Mapping[str, Any], endpoint: Endpoint, signs: bool) -> dict[str, Any]:
    if message.role == "tool":
        call_id = legal_id(message.tool_call_id or "", endpoint.call_ids)
        return {"role": "tool", "tool_call_id": call_id, "content": message.content or ""}
    if message.role != "assistant":
        return {"role": message.role, "content": message.content or ""}
    added = {key: value for key, value in native.items() if key not in _RENDERED and value is not None}
    sent = {**added, "role": "assistant", "content": _content(message, native, endpoint)}
    if message.tool_calls:
        native_calls = {call["id"]: call for call in native.get("tool_calls") or ()}
        calls = [_sent_call(call, native_calls.get(call.id, {}), endpoint) for call in message.tool_calls]
        sent["tool_calls"] = _signed(calls) if signs and "reasoning_details" not in added else calls
    return sent | _reasoning(message, native, endpoint)


def _content(message: Message, native: Mapping[str, Any], endpoint: Endpoint) -> Any:
    """The text, or null beside calls when it is blank. Parts that are more than text go back as they came."""
    parts = native.get("content")
    if isinstance(parts, list) and endpoint.content_parts == "as_sent":
        parts = cast("list[dict[str, Any]]", parts)
        if any(part.get("type") != "text" for part in parts):
            return parts
    if message.tool_calls and not (message.content or "").strip():
        return None
    return message.content or ""


def _reasoning(message: Message, native: Mapping[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    echo = endpoint.echo_reasoning
    if echo == "as_sent":
        came = {name: native.get(name) for name in ("reasoning_content", "reasoning")}
        return {name: value for name, value in came.items() if value is not None}
    if echo == "always" or (echo == "tool_turns" and message.tool_calls):
        return {"reasoning_content": message.reasoning_content or ""}
    return {}


def _sent_call(call: ToolCall, native: Mapping[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """A call as it came, with what the provider checks written anew."""
    function = {"name": legal_name(call.name), "arguments": sent_arguments(call)}
    return {
        **native,
        "id": legal_id(call.id, endpoint.call_ids),
        "type": "function",
        "function": {**(native.get("function") or {}), **function},
    }


def _is_gemini(natives: Sequence[Mapping[str, Any]], endpoint: Endpoint) -> bool:
    """Whether calls need signatures: the model is one of Google's by its name, or signed a call before."""
    calls = [call for native in natives for call in native.get("tool_calls") or ()]
    return "gemini" in endpoint.model.lower() or any(_signature(call) for call in calls)


def _signed(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls of one message, with a mark on those that stand before any signed one."""
    signed = next((n for n, call in enumerate(calls) if _signature(call)), len(calls))
    marked = [{**call, "extra_content": {**_extra(call), **UNSIGNED}} for call in calls[:signed]]
    return marked + calls[signed:]


def _signature(call: Mapping[str, Any]) -> Any:
    google = _extra(call).get("google")
    return cast("dict[str, Any]", google).get("thought_signature") if isinstance(google, dict) else None


def _extra(call: Mapping[str, Any]) -> dict[str, Any]:
    extra = call.get("extra_content")
    return cast("dict[str, Any]", extra) if isinstance(extra, dict) else {}
