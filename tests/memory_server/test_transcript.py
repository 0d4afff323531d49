"""A session as it will be remembered."""

from __future__ import annotations

from typing import Any

import pytest

from atr_data.constants import USER_END
from atr_data.trajectory import Message, ToolCall
from atr_memory import render_transcript


def user(text: str | None) -> Message:
    return Message(role="user", content=text)


def calling(*calls: tuple[str, str, dict[str, Any]], text: str | None = None) -> Message:
    tool_calls = [ToolCall(id=id_, name=name, arguments=arguments) for id_, name, arguments in calls]
    return Message(role="assistant", content=text, tool_calls=tool_calls)


def result(id_: str, text: str | None) -> Message:
    return Message(role="tool", content=text, tool_call_id=id_)


def test_a_session_reads_as_a_dialogue_with_the_calls_in_between() -> None:
    messages = [
        Message(role="system", content="secret"),
        user(" oil please "),
        calling(("a", "search_products", {"category": "öl"}), text="thinking"),
        result("a", ' {"count": 1} '),
        calling(("b", "send_to_user", {"output": " Fine oil? ", "reason": "hidden"})),
        result("b", '{"status": "delivered"}'),
        user("yes"),
        Message(role="assistant", content=" leaked "),
        user(f" {USER_END}\n"),
    ]
    assert render_transcript(messages).split("\n") == [
        "[user]: oil please",
        '[tool call]: search_products({"category": "öl"})',
        '[tool result]: {"count": 1}',
        "[assistant to user]: Fine oil?",
        "[user]: yes",
        "[assistant to user]: leaked",
    ]


def test_long_texts_are_cut_each_by_itself() -> None:
    messages = [
        user("u" * 501),
        calling(("a", "create_document", {"t": "é" * 400})),
        result("a", "r" * 500),
        Message(role="assistant", content="l" * 501),
    ]
    assert render_transcript(messages).split("\n") == [
        f"[user]: {'u' * 500}...",
        '[tool call]: create_document({"t": "' + "é" * 293 + "...)",
        f"[tool result]: {'r' * 500}",
        f"[assistant to user]: {'l' * 500}...",
    ]


def test_only_the_first_message_of_a_turn_was_delivered() -> None:
    first = ("a", "send_to_user", {"output": "One"})
    second = ("b", "send_to_user", {"output": "Two"})
    assert render_transcript([calling(first, second), result("b", "ack")]) == "[assistant to user]: One"
    silent = ("a", "send_to_user", {"output": "  "})
    assert render_transcript([calling(silent, second)]) == ""


def test_confirmations_are_remembered_and_the_end_of_a_session_is_not() -> None:
    messages = [
        calling(("a", "get_user_confirmation", {}), ("b", "finish_session", {})),
        result("a", "yes"),
        result("b", '{"status": "session_ended"}'),
    ]
    assert render_transcript(messages) == "[tool call]: get_user_confirmation({})\n[tool result]: yes"


@pytest.mark.parametrize("text", [None, "", "  "])
def test_an_empty_user_message_still_leaves_its_label(text: str | None) -> None:
    assert render_transcript([user(text), Message(role="assistant", content=text)]) == "[user]: "
