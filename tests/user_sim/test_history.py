"""What the simulated user sees of the conversation."""

from __future__ import annotations

import pytest

from atr_data.trajectory import Message, ToolCall
from atr_user_sim.history import render_history
from atr_user_sim.interface import HistoryEntry


def said(role: str, text: str | None, turn_idx: int = 0) -> Message:
    return Message(role=role, content=text, turn_idx=turn_idx)  # pyright: ignore[reportArgumentType]


def calling(*calls: ToolCall, text: str | None = None) -> Message:
    return Message(role="assistant", content=text, tool_calls=list(calls))


def call(id_: str, name: str = "list_files", **arguments: object) -> ToolCall:
    return ToolCall(id=id_, name=name, arguments=dict(arguments))


def result(id_: str, text: str | None = "{}", error: bool = False) -> Message:
    return Message(role="tool", content=text, tool_call_id=id_, tool_error=error)


def lines(*messages: Message, **options: object) -> list[str]:
    return [entry.content for entry in render_history(messages, **options)]  # pyright: ignore[reportArgumentType]


def test_user_and_agent_lines_keep_their_order_and_blank_ones_go() -> None:
    messages = [
        said("system", "s"),
        said("user", " hi "),
        said("assistant", "\n"),
        said("user", " "),
        said("assistant", "yes "),
    ]
    assert render_history(messages) == [HistoryEntry("user", "hi"), HistoryEntry("assistant", "yes")]


def test_private_text_beside_calls_is_hidden_and_each_call_is_a_line() -> None:
    turn = calling(
        call("a", file_type="pdf"),
        call("b", "list_labels"),
        call("c", "send_to_user", output=" Done. ", reason="why"),
        text="thinking",
    )
    assert lines(turn, result("a"), result("b"), result("c", '{"status": "delivered"}')) == [
        '[invoked list_files({"file_type": "pdf"}) → ok]\n[invoked list_labels → ok]\nDone.'
    ]


@pytest.mark.parametrize("name", ["finish_session", "get_user_confirmation"])
def test_a_turn_with_nothing_to_show_leaves_no_entry(name: str) -> None:
    assert lines(calling(call("a", name, target_tool="x")), result("a")) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no\nsuch file ", "error: no such file"),
        ("x" * 61, f"error: {'x' * 57}..."),
        ("x" * 60, f"error: {'x' * 60}"),
        (" \n", "error"),
        (None, "error"),
    ],
)
def test_an_error_shows_its_text_in_one_short_line(text: str | None, shown: str) -> None:
    assert lines(calling(call("a", "list_labels")), result("a", text, error=True)) == [
        f"[invoked list_labels → {shown}]"
    ]


def test_long_arguments_are_cut_to_eighty_characters_and_keep_their_letters() -> None:
    (line,) = lines(calling(call("a", note="é" * 100)), result("a"))
    assert line == '[invoked list_files({"note": "' + "é" * 67 + "...) → ok]"


def test_a_call_without_its_result_has_no_outcome() -> None:
    turn = calling(call("a", "list_labels"), call("b", "list_trackers"))
    assert lines(turn, said("user", "hm"), result("a")) == [
        "[invoked list_labels]\n[invoked list_trackers]",
        "hm",
    ]
    assert lines(turn, result("b"), result("a")) == ["[invoked list_labels]\n[invoked list_trackers]"]


def test_the_call_being_answered_is_hidden_and_its_siblings_stay() -> None:
    turn = calling(
        call("a", "list_labels"), call("b", "send_to_user", output="Which?"), call("c", "list_trackers")
    )
    shown = lines(turn, result("a"), result("b"), result("c", "gone", error=True), exclude_call_id="b")
    assert shown == ["[invoked list_labels → ok]\n[invoked list_trackers → error: gone]"]


def test_an_earlier_call_with_the_same_id_stays_visible() -> None:
    first, second = (calling(call("a", "send_to_user", output=text)) for text in ("First", "Second"))
    assert lines(first, result("a"), said("user", "ok"), second, result("a"), exclude_call_id="a") == [
        "First",
        "ok",
    ]


def test_nothing_from_the_leaked_turn_on_is_shown() -> None:
    messages = [said("user", "hi", 1), said("assistant", "leak", 2), said("user", "later", 3)]
    assert lines(*messages, before_turn=2) == ["hi"]


def test_output_that_is_no_text_is_shown_as_text() -> None:
    assert lines(calling(call("a", "send_to_user", output=12)), result("a")) == ["12"]
    assert lines(calling(call("a", "send_to_user")), result("a")) == []
