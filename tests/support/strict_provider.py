"""What each provider refuses of a request, and replies in each provider's form.

A wire's check returns what is wrong with a body, in words, as the provider's own validation would.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from typing import Any

from tests.support.mock_provider import Answer, CannedServer, answer

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")
MISSING: Any = object()
"""A field that a reply does not have."""

Body = Mapping[str, Any]
Call = tuple[Any, Any, Any]
"""Id, name and arguments of a call, any of them MISSING."""


def checked(server: CannedServer, wire: str, reply: object) -> Answer:
    """An answer that comes only when the provider would take the request; a refusal else."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        problems = list(CHECKS[wire](server.bodies[-1]))
        error = {"error": {"code": 400, "message": "; ".join(problems)}}
        answer(error if problems else reply, 400 if problems else 200)(handler)

    return send


def reply_of(wire: str, *calls: Call, content: Any = None, usage: Any = MISSING) -> dict[str, Any]:
    """A reply in the provider's form; `content` is what stands where text belongs."""
    return REPLIES[wire](calls, content, usage)


def _fields(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not MISSING}


def _chat_reply(calls: tuple[Call, ...], content: Any, usage: Any) -> dict[str, Any]:
    sent = [
        _fields(id=id_, type="function", function=_fields(name=name, arguments=arguments))
        for id_, name, arguments in calls
    ]
    message = {"role": "assistant", "content": content, **({"tool_calls": sent} if sent else {})}
    return _fields(choices=[{"index": 0, "message": message, "finish_reason": "stop"}], usage=usage)


def _responses_reply(calls: tuple[Call, ...], content: Any, usage: Any) -> dict[str, Any]:
    sent = [
        _fields(type="function_call", id="fc_1", call_id=id_, name=name, arguments=arguments)
        for id_, name, arguments in calls
    ]
    text = {"type": "output_text", "text": content, "annotations": []}
    said = [{"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}] if content else []
    return _fields(status="completed", output=[*said, *sent], usage=usage)


def _anthropic_reply(calls: tuple[Call, ...], content: Any, usage: Any) -> dict[str, Any]:
    sent = [_fields(type="tool_use", id=id_, name=name, input=arguments) for id_, name, arguments in calls]
    said = [] if content is None else [{"type": "text", "text": content}]
    return _fields(content=[*said, *sent], stop_reason="tool_use" if sent else "end_turn", usage=usage)


def _google_reply(calls: tuple[Call, ...], content: Any, usage: Any) -> dict[str, Any]:
    sent = [{"functionCall": _fields(id=id_, name=name, args=arguments)} for id_, name, arguments in calls]
    said = [] if content is None else [{"text": content}]
    candidate = {"content": {"role": "model", "parts": [*said, *sent]}, "finishReason": "STOP"}
    return _fields(candidates=[candidate], usageMetadata=usage)


def _illegal(what: str, value: Any) -> Iterator[str]:
    if not isinstance(value, str) or not LEGAL.fullmatch(value):
        yield f"{what} {value!r} does not match [A-Za-z0-9_-]{{1,64}}"


def _no_object(text: Any) -> Iterator[str]:
    try:
        if not isinstance(text, str) or not isinstance(json.loads(text), dict):
            yield f"arguments {text!r} are no JSON object"
    except ValueError:
        yield f"arguments {text!r} are no JSON"


def _paired(calls: list[str], results: list[str]) -> Iterator[str]:
    if len(set(calls)) != len(calls):
        yield f"ids stand twice: {calls}"
    if sorted(calls) != sorted(results):
        yield f"calls {calls} have the results {results}"


def _chat_problems(body: Body) -> Iterator[str]:
    calls: list[str] = []
    results: list[str] = []
    for message in body["messages"]:
        content = message.get("content")
        if not isinstance(content, str) and not (
            message["role"] == "assistant" and message.get("tool_calls")
        ):
            yield f"content of {message['role']} must be a text, got {content!r}"
        if message["role"] == "tool":
            results.append(message["tool_call_id"])
        for call in message.get("tool_calls") or ():
            calls.append(call["id"])
            yield from _illegal("id", call["id"])
            yield from _illegal("name", call["function"]["name"])
            yield from _no_object(call["function"]["arguments"])
    yield from _paired(calls, results)


def _responses_problems(body: Body) -> Iterator[str]:
    calls: list[str] = []
    results: list[str] = []
    item_ids = [item["id"] for item in body["input"] if "id" in item]
    if len(set(item_ids)) != len(item_ids):
        yield f"items stand twice: {item_ids}"
    for item in body["input"]:
        if item.get("type") == "function_call":
            calls.append(item["call_id"])
            yield from _illegal("call_id", item["call_id"])
            yield from _illegal("name", item.get("name"))
            yield from _no_object(item.get("arguments"))
        if item.get("type") == "function_call_output":
            results.append(item["call_id"])
    yield from _paired(calls, results)


def _anthropic_problems(body: Body) -> Iterator[str]:
    roles = [message["role"] for message in body["messages"]]
    if any(one == other for one, other in pairwise(roles)) or roles[-1] != "user":
        yield f"roles must alternate and end with user: {roles}"
    blocks = [block for message in body["messages"] for block in message["content"]]
    for block in blocks:
        if block["type"] == "text" and not (block.get("text") or "").strip():
            yield "text content blocks must be non-empty"
        if block["type"] == "tool_use":
            yield from _illegal("id", block["id"])
            yield from _illegal("name", block.get("name"))
            if not isinstance(block.get("input"), dict):
                yield f"input must be an object, got {block.get('input')!r}"
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    yield from _paired(calls, [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"])


def _google_problems(body: Body) -> Iterator[str]:
    results: dict[str, str] = {}
    calls: dict[str, str] = {}
    for content in body["contents"]:
        found = [part for part in content["parts"] if "functionCall" in part]
        if found and not found[0].get("thoughtSignature"):
            yield "function call is missing a thought_signature"
        for part in content["parts"]:
            if not any(part.values()):
                yield f"part {part!r} has no data"
            if call := part.get("functionCall"):
                calls[call["id"]] = call.get("name")
                yield from _illegal("id", call["id"])
                yield from _illegal("name", call.get("name"))
                if not isinstance(call.get("args", {}), dict):
                    yield f"args must be an object, got {call['args']!r}"
            if result := part.get("functionResponse"):
                results[result["id"]] = result["name"]
    if calls != results:
        yield f"calls {calls} have the responses {results}"


CHECKS: Mapping[str, Callable[[Body], Iterator[str]]] = {
    "openai_chat": _chat_problems,
    "openai_responses": _responses_problems,
    "anthropic": _anthropic_problems,
    "google": _google_problems,
}
REPLIES: Mapping[str, Callable[[tuple[Call, ...], Any, Any], dict[str, Any]]] = {
    "openai_chat": _chat_reply,
    "openai_responses": _responses_reply,
    "anthropic": _anthropic_reply,
    "google": _google_reply,
}
ROOTS: Mapping[str, str] = {"openai_chat": "/v1", "openai_responses": "/v1", "anthropic": "", "google": ""}
"""Where each SDK expects its API below a server's address."""
