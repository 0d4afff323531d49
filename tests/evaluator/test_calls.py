"""Scoring from the call log alone."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from atr_data.calls import CallRecord, LogRecord, SessionEnd
from atr_data.trajectory import Trajectory
from atr_evaluator import evaluate_calls, evaluate_episode
from tests.evaluator.builders import TOOL, action, episode, log_of, trajectory

NEED = [action(arguments={"a": 1}, compare=["a"])]
RIGHT, WRONG = (TOOL, {"a": 1}), (TOOL, {"a": 2})
SHARED = {
    "ts_payoff_accuracy",
    "payoff_accuracy",
    "total_test",
    "success_count",
    "by_check_type",
    "by_domain",
    "missing_test_sessions",
    "missing_learning_sessions",
}


def passed(records: list[LogRecord], variant: str | None = None) -> dict[str, bool]:
    results = evaluate_calls(episode(NEED, NEED), records, variant)["session_results"]
    return {row["session_id"]: row["task_success"] for row in results}


def test_what_the_log_cannot_tell_is_null_and_named() -> None:
    told = evaluate_calls(episode(NEED, learning=1), log_of([trajectory("ts_0", [RIGHT])]), None)
    metrics = evaluate_episode(episode(NEED, learning=1), [], None)["metrics"]
    assert told["metrics"].keys() == metrics.keys()
    assert told["not_available"] == sorted(metrics.keys() - SHARED)
    assert {name for name, value in told["metrics"].items() if value is None} == set(told["not_available"])


def test_an_attempt_that_did_not_end_counts_for_nothing() -> None:
    ended = log_of([trajectory("ts_0", [RIGHT])])
    killed = log_of([trajectory("ts_0", [WRONG]), trajectory("ts_1", [RIGHT])], attempt=2)
    unfinished = [record for record in killed if not isinstance(record, SessionEnd)]
    assert passed([*ended, *unfinished]) == {"ts_0": True, "ts_1": False}


def test_the_last_attempt_that_ended_decides() -> None:
    first, second = log_of([trajectory("ts_0", [WRONG])]), log_of([trajectory("ts_0", [RIGHT])], attempt=2)
    assert passed([*first, *second])["ts_0"]
    assert passed([*first[:-1], *second])["ts_0"]


def test_calls_of_the_harness_are_none_of_the_agents() -> None:
    records = log_of([trajectory("ts_0", [RIGHT])])
    assert isinstance(records[1], CallRecord)
    records[1] = records[1].model_copy(update={"caller": "harness"})
    assert not passed(records)["ts_0"]


def test_calls_of_one_turn_are_one_batch() -> None:
    assert not passed(log_of([trajectory("ts_0", [RIGHT, WRONG])]))["ts_0"]
    assert passed(log_of([trajectory("ts_0", [RIGHT], [WRONG])]))["ts_0"]


def test_another_variant_is_left_out() -> None:
    records = log_of([trajectory("ts_0", [RIGHT], variant="default"), trajectory("ts_1", [RIGHT])])
    assert passed(records, "atr") == {"ts_0": False, "ts_1": True}


def test_sessions_that_ran_side_by_side_are_told_apart() -> None:
    one, other = log_of([trajectory("ts_0", [RIGHT])]), log_of([trajectory("ts_1", [WRONG])])
    mixed = [record for pair in zip(one, other, strict=True) for record in pair]
    assert passed(mixed) == {"ts_0": True, "ts_1": False}


def test_results_stand_in_the_order_of_the_files_names() -> None:
    whole = episode(NEED, NEED)
    renamed = whole.test_sessions[1].model_copy(update={"session_id": "ts_0-b"})
    whole = whole.model_copy(update={"test_sessions": [whole.test_sessions[0], renamed]})
    records = log_of([trajectory("ts_0", [RIGHT]), trajectory("ts_0-b", [RIGHT])])
    results = evaluate_calls(whole, records, None)["session_results"]
    assert [row["session_id"] for row in results] == ["ts_0-b", "ts_0"], "ts_0-b.json comes before ts_0.json"


CALL = st.tuples(
    st.sampled_from([TOOL, "list_files"]),
    st.dictionaries(st.sampled_from("ab"), st.integers(0, 2) | st.lists(st.integers(0, 2)), max_size=2),
)


@st.composite
def runs(draw: st.DrawFn) -> list[Trajectory]:
    """The trajectories of one cell, in file-name order."""
    names = draw(st.sets(st.sampled_from(["ls_0", "ls_1", "ts_0", "ts_1", "ts_10", "ts_2", "ts_9"])))
    return [
        trajectory(
            name,
            *draw(st.lists(st.lists(CALL, min_size=1, max_size=3), max_size=3)),
            variant=draw(st.sampled_from(["atr", "default"])),
            errors=draw(st.lists(st.sampled_from(["c0", "c1"]))),
        )
        for name in sorted(names, key=lambda name: f"{name}.json")
    ]


@given(runs(), st.sampled_from([None, "atr", "oracle_full"]), st.randoms())
def test_the_log_gives_the_same_score_as_the_trajectories(
    trajectories: list[Trajectory], variant: str | None, random: Any
) -> None:
    whole = episode(NEED, [action("list_files"), *NEED], [], learning=2, domains=("travel", "workspace"))
    order = list(trajectories)
    random.shuffle(order)
    told = evaluate_calls(whole, log_of(order), variant)
    full = evaluate_episode(whole, trajectories, variant)
    assert told["session_results"] == full["session_results"]
    assert {name: told["metrics"][name] for name in SHARED} == {
        name: full["metrics"][name] for name in SHARED
    }
