"""A session as the agent will remember it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from atr_data.constants import FINISH_SESSION, SEND_TO_USER, USER_END
from atr_data.trajectory import Message, ToolCall

DISTILLED = "[What holds in general]"
"""Heads a memory that holds what is left of sessions in place of their text. A line of it is `- SAID`, or
`- (asked: QUESTION) ANSWER`."""

_as_json = json.JSONEncoder(ensure_ascii=False).encode
_MAX_TEXT = 500
_MAX_ARGUMENTS = 300


def render_transcript(messages: Sequence[Message]) -> str:
    """One line per thing said or done; blank when nothing was.

    Left out are the system message, the end marker, text next to tool calls, reasons given with
    `send_to_user`, its acknowledgement and that of `finish_session`, and any `send_to_user` call after the
    first of a message. Long texts are cut, each by itself.
    """
    return "\n".join(_lines(messages))


def lines_said(messages: Sequence[Message]) -> list[str]:
    """Those of its lines that user and agent said to each other."""
    return [line for line in _lines(messages) if line.startswith(("[user]", "[assistant to user]"))]


def _lines(messages: Sequence[Message]) -> Iterator[str]:
    acknowledged: set[str] = set()
    for message in messages:
        match message.role:
            case "user" if (text := _text(message)) != USER_END:
                yield f"[user]: {_cut(text, _MAX_TEXT)}"
            case "assistant" if message.tool_calls:
                acknowledged |= {c.id for c in message.tool_calls if c.name in (SEND_TO_USER, FINISH_SESSION)}
                yield from _call_lines(message.tool_calls)
            case "assistant" if text := _text(message):
                yield f"[assistant to user]: {_cut(text, _MAX_TEXT)}"
            case "tool" if message.tool_call_id not in acknowledged:
                yield f"[tool result]: {_cut(_text(message), _MAX_TEXT)}"
            case _:
                pass


def _call_lines(calls: Sequence[ToolCall]) -> Iterator[str]:
    first_sent = next((call for call in calls if call.name == SEND_TO_USER), None)
    for call in calls:
        if call is first_sent:
            if output := call.text("output"):
                yield f"[assistant to user]: {_cut(output, _MAX_TEXT)}"
        elif call.name not in (SEND_TO_USER, FINISH_SESSION):
            arguments = _as_json(call.arguments)
            yield f"[tool call]: {call.name}({_cut(arguments, _MAX_ARGUMENTS)})"


def _text(message: Message) -> str:
    return (message.content or "").strip()


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "..."
