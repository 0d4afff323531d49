"""Session results, missing sessions, and what is told beside the score."""

from __future__ import annotations

import pytest

from atr_evaluator import evaluate_episode
from tests.evaluator.builders import TOOL, action, episode, trajectory

NEED = [action(arguments={"a": 1}, compare=["a"])]
RIGHT, WRONG = (TOOL, {"a": 1}), (TOOL, {"a": 2})


def test_all_required_actions_must_be_there() -> None:
    both = [action("list_files"), *NEED]
    result = evaluate_episode(
        episode(both, both),
        [trajectory("ts_0", [RIGHT], [("list_files", {})]), trajectory("ts_1", [RIGHT])],
        None,
    )
    assert [row["task_success"] for row in result["session_results"]] == [True, False]
    assert [step["step_idx"] for step in result["session_results"][0]["step_results"]] == [0, 1]


def test_a_session_that_requires_nothing_is_a_failure() -> None:
    result = evaluate_episode(episode([]), [trajectory("ts_0", [RIGHT])], None)
    assert result["session_results"][0]["task_success"] is False


def test_missing_tests_fail_and_stay_in_the_denominator() -> None:
    result = evaluate_episode(episode(NEED, NEED, NEED), [trajectory("ts_1", [RIGHT])], "atr")
    assert [row["session_id"] for row in result["session_results"]] == ["ts_1", "ts_0", "ts_2"]
    assert result["session_results"][1] == {
        "session_id": "ts_0",
        "rule_id": "r_0",
        "agent_variant": "atr",
        "check_type": "param_id",
        "domain": "workspace",
        "step_results": [],
        "task_success": False,
        "missing": True,
    }
    metrics = result["metrics"]
    assert metrics["missing_test_sessions"] == ["ts_0", "ts_2"]
    assert (metrics["success_count"], metrics["total_test"]) == (1, 3)
    assert metrics["payoff_accuracy"] == metrics["ts_payoff_accuracy"] == 0.3333


@pytest.mark.parametrize("variant", [None, ""])
def test_without_a_variant_every_trajectory_counts_and_missing_ones_are_called_so(
    variant: str | None,
) -> None:
    runs = [trajectory("ts_0", [RIGHT], variant="atr"), trajectory("ts_1", [RIGHT], variant="default")]
    result = evaluate_episode(episode(NEED, NEED, NEED), runs, variant)
    assert [row["agent_variant"] for row in result["session_results"]] == ["atr", "default", "missing"]
    assert result["variant"] == variant


def test_a_trajectory_of_another_variant_counts_nowhere() -> None:
    result = evaluate_episode(episode(NEED), [trajectory("ts_0", [RIGHT], variant="default")], "atr")
    assert result["metrics"]["missing_test_sessions"] == ["ts_0"]
    assert result["metrics"]["termination_breakdown"] == {}


def test_a_test_without_its_rule_is_left_out_of_everything(caplog: pytest.LogCaptureFixture) -> None:
    runs = [trajectory("ts_0", [RIGHT]), trajectory("ts_1", [RIGHT])]
    for given in (runs, runs[:1]):
        result = evaluate_episode(episode(NEED, NEED, rules=["r_0"]), given, None)
        assert [row["session_id"] for row in result["session_results"]] == ["ts_0"]
        assert result["metrics"]["missing_test_sessions"] == []
        assert "ts_1" in caplog.text
        caplog.clear()


def test_a_trajectory_of_an_unknown_session_still_counts_its_tokens(caplog: pytest.LogCaptureFixture) -> None:
    stranger = trajectory("ts_9", [RIGHT], token_usage={"agent": {"prompt_tokens": 5, "cost": 1}})
    result = evaluate_episode(episode(NEED), [stranger, trajectory("ts_0", [RIGHT])], None)
    assert [row["session_id"] for row in result["session_results"]] == ["ts_0"]
    assert result["metrics"]["token_usage_total"]["agent"]["prompt_tokens"] == 5
    assert result["metrics"]["termination_breakdown"] == {"test": {"agent_stop": 2}}
    assert "ts_9" in caplog.text


def test_two_trajectories_of_one_session_are_two_results() -> None:
    result = evaluate_episode(episode(NEED), [trajectory("ts_0", [RIGHT]), trajectory("ts_0", [WRONG])], None)
    assert [row["task_success"] for row in result["session_results"]] == [True, False]


@pytest.mark.parametrize(
    ("variant", "missing"), [("atr", ["ls_0", "ls_2"]), ("oracle_full", []), ("oracle_target", [])]
)
def test_oracles_miss_no_learning_sessions(variant: str, missing: list[str]) -> None:
    runs = [trajectory("ls_1", variant=variant, termination_reason="timeout")]
    result = evaluate_episode(episode(learning=3), runs, variant)
    assert result["metrics"]["missing_learning_sessions"] == missing


def test_an_empty_cell_has_accuracy_zero_and_not_null() -> None:
    metrics = evaluate_episode(episode(), [], None)["metrics"]
    assert metrics["payoff_accuracy"] == 0.0 and metrics["total_test"] == 0
