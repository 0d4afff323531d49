"""Passes by carrying every rival out, which the pass mark lets through and tables tell."""

from __future__ import annotations

import pytest

from atr_data.episode import RequiredAction
from atr_evaluator import is_sprayed, sprayed_passes
from atr_evaluator.match import Call

GOLD = RequiredAction(tool="draft_message")
RIVALS = ("draft_message", "send_message", "send_draft")


def call(name: str, *, accepted: bool | None = True) -> list[Call]:
    return [Call("c", name, {}, accepted)]


@pytest.mark.parametrize(
    ("batches", "sprayed"),
    [
        ([call("draft_message")], False),
        ([call("draft_message"), call("draft_message")], False),
        ([call("draft_message"), call("send_message")], True),
        ([call("send_message"), call("draft_message")], True),
        ([call("draft_message"), call("send_message", accepted=False)], False),
        ([call("draft_message"), call("send_message", accepted=None)], True),
        ([call("draft_message"), call("archive_messages")], False),
        ([call("send_message")], False),
        ([], False),
    ],
)
def test_a_pass_is_sprayed_when_a_rival_was_carried_out_too(batches: list[list[Call]], sprayed: bool) -> None:
    assert is_sprayed(GOLD, batches, RIVALS) == sprayed


def test_only_tests_on_the_choice_of_a_tool_are_sprayed() -> None:
    value = RequiredAction(tool="draft_message", arguments={"language": "en"}, compare_args=["language"])
    batches = [[Call("c", "draft_message", {"language": "en"}, True)], call("send_message")]
    assert not is_sprayed(value, batches, RIVALS)


def test_sprayed_passes_are_counted() -> None:
    both, one = [call("draft_message"), call("send_message")], [call("draft_message")]
    assert sprayed_passes([(GOLD, both, RIVALS), (GOLD, one, RIVALS), (GOLD, both, ())]) == 1
