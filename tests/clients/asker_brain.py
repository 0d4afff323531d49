"""The offline asker as the model behind a provider's mock: it reads what the agent's client sends.

What the asker sees is what it would see in process, as far as the client passes it on: instructions, the
user's words out of the results of `send_to_user`, results out of what the client wraps them in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import anyio

from atr_client.models.base import ToolSpec
from atr_data.constants import FINISH_SESSION, SEND_TO_USER
from atr_data.trajectory import Message
from tests.clients.mock_providers import Call, Turn
from tests.support.gateway import asker

_TOOLS, _USER = "\n\nYour tools are those of the MCP server", "The user says:\n\n"
_PROMPT = "Follow these instructions."
_MOST_CALLS = 100
"""Of one session. An agent whose calls never arrive would go on for ever."""


def asker_brain(conversation: list[Message], tools: list[ToolSpec]) -> Turn:
    """Plays a session whose instructions stand in the conversation; silent once it is over."""
    system, _, rest = instructions_in(conversation).partition(_TOOLS)
    opening = rest.partition(_USER)[2].rstrip().removesuffix(_PROMPT).rstrip()
    played = [Message(role="system", content=system), Message(role="user", content=opening)]
    called: dict[str, str] = {}
    for message in conversation:
        if message.role == "assistant" and message.tool_calls:
            called |= {call.id: call.name for call in message.tool_calls}
            if FINISH_SESSION in called.values() or len(called) > _MOST_CALLS:
                return ()
            played.append(message)
        elif message.role == "tool":
            documents = list(_documents(str(message.content)))
            if any(document.get("session") == "over" for document in documents):
                return ()
            told: dict[str, Any] = documents[0] if documents else {}
            failed = bool(message.tool_error) or "error" in told
            played.append(message.model_copy(update={"content": json.dumps(told), "tool_error": failed}))
            if called[str(message.tool_call_id)] == SEND_TO_USER and told.get("user"):
                played.append(Message(role="user", content=told["user"]))
    return _turn(_numbered(played), tools)


def instructions_in(conversation: Sequence[Message]) -> str:
    """What the harness told the client, among what the client itself adds."""
    return next(str(m.content) for m in conversation if m.role == "user" and _TOOLS in str(m.content))


def bare_asker(conversation: list[Message], tools: list[ToolSpec]) -> Turn:
    """Plays a session as it stands in the conversation, from the system prompt on. What a result says is read
    for whether it is an error."""
    played = [
        message.model_copy(update={"tool_error": "error" in (*_documents(str(message.content)), {})[0]})
        if message.role == "tool"
        else message
        for message in conversation
    ]
    return _turn(_numbered(played), tools)


def _turn(messages: list[Message], tools: list[ToolSpec]) -> Turn:
    reply = anyio.run(asker().respond, messages, tools)
    return [Call(call.name, call.arguments) for call in reply.tool_calls]


def _numbered(messages: Sequence[Message]) -> list[Message]:
    return [m.model_copy(update={"turn_idx": n}) for n, m in enumerate(messages)]


def _documents(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object in a text, also those inside of text blocks."""
    decoder = json.JSONDecoder()
    position = 0
    while starts := [p for p in (text.find("{", position), text.find("[", position)) if p >= 0]:
        try:
            value, position = decoder.raw_decode(text, min(starts))
        except ValueError:
            position = min(starts) + 1
            continue
        yield from _objects(value)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    match value:
        case {"type": "text", "text": str(text)}:
            yield from _documents(text)
        case {"content": list(blocks), **rest} if not rest.keys() - {"isError", "structuredContent", "_meta"}:
            yield from _objects(blocks)
        case dict():
            yield value
        case list():
            for item in value:
                yield from _objects(item)
        case _:
            pass
