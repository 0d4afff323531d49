"""The agent's calls as a transcript and a log tell them, and a session as the report shows it."""

from __future__ import annotations

from typing import Any

import pytest

from atr_data.constants import FINISH_ACK, SEND_ACK
from atr_data.trajectory import Trajectory
from atr_evaluator import evaluate_episode
from atr_evaluator.agent_calls import finished_attempts, transcript_calls
from atr_evaluator.losses import Loss
from atr_evaluator.report.session_view import INDEX, index_row, session_document
from tests.evaluator.builders import TOOL, action, episode, log_of, trajectory


def call(call_id: str, name: str = TOOL) -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": {"n": call_id}}


def told(*messages: dict[str, Any]) -> list[tuple[str, int, str | None]]:
    """Id, turn and answer of each call of a session with these messages."""
    numbered = [{**message, "turn_idx": n} for n, message in enumerate(messages)]
    run = Trajectory.model_validate(
        {"session_id": "ts_0", "session_type": "test", "agent_variant": "atr", "messages": numbered}
    )
    found = transcript_calls(run)
    return [(one.call.id, one.turn_idx, one.answer.content if one.answer else None) for one in found]


def answer(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_calls_stand_in_order_with_the_answers_of_their_own_batch() -> None:
    assert told(
        {"role": "assistant", "tool_calls": [call("a"), call("b")]},
        answer("b", "B"),
        answer("a", "A"),
        {"role": "assistant", "content": "Hm."},
        {"role": "assistant", "tool_calls": [call("a"), call("c")]},
        answer("a", "A again"),
        {"role": "user", "content": "Yes?"},
    ) == [("a", 0, "A"), ("b", 0, "B"), ("a", 4, "A again"), ("c", 4, None)]


def test_what_the_loop_answers_itself_goes_to_no_server() -> None:
    assert told(
        {
            "role": "assistant",
            "tool_calls": [call("a", "send_to_user"), call("b", "finish_session"), call("c")],
        },
        answer("a", SEND_ACK),
        answer("b", FINISH_ACK),
        answer("c", SEND_ACK),
        {"role": "assistant", "tool_calls": [call("d", "send_to_user"), call("e", "finish_session")]},
        answer("d", FINISH_ACK),
    ) == [("c", 0, SEND_ACK), ("d", 4, FINISH_ACK), ("e", 4, None)]


def test_of_several_attempts_the_one_that_ended_last_counts() -> None:
    first = [trajectory("ts_0", [(TOOL, {"n": 1})]), trajectory("ts_1", [(TOOL, {})])]
    second = [trajectory("ts_0", [(TOOL, {"n": 2})], [(TOOL, {"n": 3})])]
    third = log_of([trajectory("ts_0", [(TOOL, {"n": 4})])], attempt=3)[:-1]
    found = finished_attempts([*log_of(first), *log_of(second, attempt=2), *third])
    assert {name: one.end.attempt for name, one in found.items()} == {"ts_0": 2, "ts_1": 1}
    assert [one.arguments for one in found["ts_0"].calls] == [{"n": 2}, {"n": 3}]
    harness = [r.model_copy(update={"caller": "harness"}) if r.record == "call" else r for r in log_of(first)]
    assert finished_attempts(harness)["ts_0"].calls == []


SHOWN = episode([action(arguments={"a": 1, "b": 2}, compare=["a"]), action("list_files")], learning=1)
LOSS: Loss = {"session_id": "ts_0", "loss_class": "misapplied", "rule_readable": True, "sprayed": False}


def test_a_test_is_shown_with_what_was_expected_and_what_was_done() -> None:
    run = trajectory("ts_0", [(TOOL, {"a": 2})], errors=["c0"], rule_readable=True, step_count=3)
    (result,) = evaluate_episode(SHOWN, [run], None)["session_results"]
    view = session_document(run, SHOWN, result, LOSS)
    assert view["ended"] == "agent_stop after 3 steps, 0.0 s"
    assert view["expected"] == [
        ["rule", "r_0 (param_id)"],
        ["the user's answer", "a"],
        [f"call of {TOOL}", {"a": 1}],
        ["call of list_files", "with any arguments"],
    ]
    assert view["done"] == [
        ["outcome", "failed"],
        ["class", "misapplied"],
        ["the rule", "could be read"],
        [f"{TOOL}.a", {"expected": 1, "came": 2}],
        [f"called {TOOL} (refused)", {"a": 2}],
    ]
    assert dict(zip(INDEX, index_row(7, run, SHOWN, result, LOSS), strict=True)) == {
        "cell": 7,
        "session": "ts_0",
        "type": "test",
        "domain": "workspace",
        "check_type": "param_id",
        "outcome": "failed",
        "loss_class": "misapplied",
        "ended": "agent_stop",
        "steps": 3,
        "calls": 1,
        "asks": 0,
        "hits": 0,
    }


def test_a_session_that_is_not_in_the_episode_and_one_without_a_score_are_shown_too() -> None:
    run = trajectory("ts_9", rule_readable=False)
    assert session_document(run, SHOWN, None, None)["expected"] == [["session", "is not in the episode"]]
    assert session_document(run, SHOWN, None, None)["done"] == []
    assert index_row(0, run, SHOWN, None, None)[3:7] == ["", "", "", ""]
    (result,) = evaluate_episode(SHOWN, [trajectory("ts_0", [("list_files", {}), (TOOL, {"a": 1})])], None)[
        "session_results"
    ]
    shown = session_document(trajectory("ts_0", rule_readable=False), SHOWN, result, None)
    assert shown["done"] == [
        ["outcome", "passed"],
        ["class", "not recorded"],
        ["the rule", "could not be read"],
    ]


@pytest.mark.parametrize("hits", [0, 2])
def test_a_learning_session_tells_what_was_asked_and_heard(hits: int) -> None:
    events = [
        {"kind": "route_decision", "turn_idx": 2, "route": "rule"},
        *[{"kind": "cls_verdict", "turn_idx": 2, "rule_id": "r_0"}] * hits,
    ]
    run = trajectory("ls_0", [(TOOL, {})], events=events)
    view = session_document(run, SHOWN, None, None)
    assert view["expected"] == [["reason for the call", "r"], ["particulars", {}]]
    assert view["done"] == [
        [f"called {TOOL}", {}],
        ["questions about rules", 1],
        ["rules heard", ["r_0"] if hits else []],
    ]
    assert index_row(0, run, SHOWN, None, None)[-2:] == [1, hits]
