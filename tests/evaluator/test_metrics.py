"""The metrics beside the pass mark."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_data.trajectory import Trajectory
from atr_evaluator import evaluate_episode
from tests.evaluator.builders import TOOL, action, episode, trajectory

NEED = [action()]
CALL = (TOOL, {})


def hit(rule_id: str | None, **fields: Any) -> dict[str, Any]:
    return {"kind": "cls_verdict", "turn_idx": 2, "rule_id": rule_id, **fields}


def routed(route: str | None) -> dict[str, Any]:
    return {"kind": "route_decision", "turn_idx": 2, "route": route}


def event(kind: str, turn_idx: int = 2, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "turn_idx": turn_idx, **fields}


def metrics_of(*runs: Trajectory, **shape: Any) -> dict[str, Any]:
    shape = {"learning": 2, "domains": ("workspace", "travel"), **shape}
    return evaluate_episode(episode(NEED, NEED, **shape), runs, None)["metrics"]


def test_breakdowns_hold_only_what_occurs_and_leave_empty_domains_out() -> None:
    runs = [trajectory("ts_0", [CALL]), trajectory("ts_1")]
    metrics = metrics_of(*runs, domains=("workspace", ""), check_types=("confirm", "param_id"))
    right = {"total": 1, "success": 1, "accuracy": 1.0}
    assert metrics["by_check_type"] == {
        "confirm": right,
        "param_id": {"total": 1, "success": 0, "accuracy": 0.0},
    }
    assert metrics["by_domain"] == {"workspace": {**right, "by_check_type": {"confirm": right}}}


def test_asking_is_counted_by_route_and_verdict() -> None:
    events = [routed("rule"), routed("rule"), routed("task"), routed(None)]
    events += [hit("r_0"), hit("r_0"), hit("ghost"), hit(None), hit(""), hit("r_1", cls_error=True)]
    metrics = metrics_of(trajectory("ls_0", events=events), trajectory("ls_1", events=[routed("task")]))
    assert metrics["ls_send_calls_routed_rule"] == metrics["ls_send_calls_routed_task"] == 2
    assert (metrics["ls_cls_hits"], metrics["ls_cls_misses"], metrics["ls_cls_errors"]) == (3, 2, 1)
    assert metrics["ls_cls_classified"] == 5 and metrics["ls_rule_ask_hit_rate"] == 0.6
    assert metrics["repeated_hits"] == {"r_0": 2, "ghost": 1}
    assert metrics["forced_rule_ask_compliance"] == 0.5
    assert metrics["rule_coverage"] == {
        "hit_count": 2,
        "total": 2,
        "ratio": 1.0,
        "per_rule_hit_map": {"r_0": ["ls_0", "ls_0"], "ghost": ["ls_0"]},
    }


def test_hits_in_test_sessions_never_count() -> None:
    metrics = metrics_of(trajectory("ts_0", [CALL], events=[hit("r_0"), routed("rule")]))
    assert metrics["ls_cls_hits"] == metrics["ls_send_calls_routed_rule"] == 0
    assert metrics["uncovered_miss_pass"] == 1


def test_channel_counts_and_rates() -> None:
    events = [
        event("send_event"),
        event("send_event", was_hook_rescued=True),
        event("hook_appended", 4),
        event("hook_appended", 4),
        event("hook_appended", 4),
        event("off_protocol_ask", 4),
        event("off_protocol_ask", 6),
        event("stu_mixed_with_tools"),
        event("stu_duplicate_same_turn", duplicate_count=2),
        event("stu_duplicate_same_turn", duplicate_count=None),
        event("rule_hook_token_missing", cls_status="hit"),
        event("rule_hook_token_missing", cls_status=None),
    ]
    metrics = metrics_of(trajectory("ls_0", events=events))
    told = {
        "ls_send_calls_total": 2,
        "ls_hook_rescued_sends": 1,
        "ls_native_send_calls": 1,
        "ls_off_protocol_asks": 2,
        "ls_hook_appended": 3,
        "ls_plain_text_leaks": 2,
        "stu_scaffold_rate": 0.6667,
        "hook_rescue_rate": 0.3333,
        "tool_protocol_compliance": 0.5,
        "ls_stu_mixed_turns": 1,
        "ls_stu_duplicate_turns": 2,
        "ls_stu_duplicate_drops": 2,
        "stu_mixed_rate": 0.5,
        "stu_duplicate_rate": 1.0,
        "ls_rule_hook_token_missing_total": 2,
        "ls_rule_hook_token_missing_by_cls": {"hit": 1, "unknown": 1},
    }
    assert {name: metrics[name] for name in told} == told


def test_one_turn_number_in_two_sessions_is_two_leaks() -> None:
    leak = [event("off_protocol_ask", 4)]
    metrics = metrics_of(trajectory("ls_0", events=leak), trajectory("ls_1", events=leak))
    assert metrics["ls_plain_text_leaks"] == 2


def test_domains_know_their_own_sessions_and_rules() -> None:
    events = [routed("rule"), routed("rule"), routed("rule"), hit("r_0"), hit(None, cls_error=True)]
    stranger = trajectory("ls_9", events=[hit("r_0")])
    by_domain = metrics_of(trajectory("ls_0", events=events), stranger)["ls_by_domain"]
    assert list(by_domain) == ["travel", "workspace"], "sorted; travel has only a test"
    assert by_domain["workspace"] == {
        "total_learning": 1,
        "ls_send_calls_routed_rule": 3,
        "ls_cls_hits": 1,
        "ls_cls_errors": 1,
        "ls_cls_misses": 1,
        "ls_cls_classified": 2,
        "ls_rule_ask_hit_rate": 0.5,
        "rule_coverage": {"hit_count": 1, "total": 1, "ratio": 1.0, "per_rule_hit_map": {"r_0": ["ls_0"]}},
    }
    assert by_domain["travel"]["rule_coverage"]["ratio"] is None


def test_derived_misses_are_never_negative() -> None:
    by_domain = metrics_of(trajectory("ls_0", events=[hit("r_0")]))["ls_by_domain"]
    assert by_domain["workspace"]["ls_cls_misses"] == 0


def test_each_rule_with_a_result_is_in_one_of_eight_cells() -> None:
    runs = [trajectory("ls_0", events=[hit("r_0")]), trajectory("ts_0", [CALL])]
    metrics = metrics_of(*runs, selected=["r_0"], rules=["r_0", "r_1", "untested"])
    cells = {name: count for name, count in metrics.items() if name.endswith(("_pass", "_fail"))}
    assert len(cells) == 8
    assert {name for name, count in cells.items() if count} == {"covered_hit_pass", "uncovered_miss_fail"}
    assert sum(cells.values()) == 2, "a missing test counts as failed, a rule without test not at all"


def test_of_several_results_of_a_rule_the_last_fills_the_cell() -> None:
    metrics = metrics_of(trajectory("ts_0", [CALL]), trajectory("ts_0"))
    assert metrics["uncovered_miss_pass"] == 0 and metrics["uncovered_miss_fail"] == 2


def test_spreads_round_to_two_decimals_and_leave_absent_types_out() -> None:
    runs = [
        trajectory("ls_0", step_count=steps, duration_seconds=seconds, termination_reason=reason)
        for steps, seconds, reason in [
            (1, 0.8, "timeout"),
            (2, 0.49, "timeout"),
            (4, 8.41, "sim_error"),
            (9, 1.84, "x"),
        ]
    ]
    metrics = metrics_of(*runs)
    assert metrics["step_stats"] == {"learning": {"avg": 4.0, "min": 1, "p50": 3.0, "p95": 9, "max": 9}}
    assert metrics["duration_stats"]["learning"]["p50"] == 1.32
    assert metrics["duration_stats"]["learning"]["avg"] == 2.88, "plain sums, smallest first, on any Python"
    assert metrics["termination_breakdown"] == {"learning": {"timeout": 2, "sim_error": 1, "x": 1}}


@pytest.mark.parametrize(("count", "rank"), [(1, 1), (10, 10), (20, 19), (30, 28), (50, 48)])
def test_the_95th_percentile_is_a_rank_rounded_half_to_even(count: int, rank: int) -> None:
    metrics = metrics_of(*(trajectory("ls_0", step_count=step) for step in range(1, count + 1)))
    assert metrics["step_stats"]["learning"]["p95"] == rank


def test_tokens_add_up_per_role_and_unknown_roles_are_kept() -> None:
    usage = {"agent": {"prompt_tokens": 3, "calls": 1}, "planner": {"cached_tokens": 2}}
    total = metrics_of(*(trajectory(name, token_usage=usage) for name in ("ls_0", "ts_0")))[
        "token_usage_total"
    ]
    assert total["agent"]["prompt_tokens"] == 6 and total["agent"]["calls"] == 2
    assert total["planner"] == {
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "total_tokens": 0,
        "cached_tokens": 4,
        "prompt_cache_hit_tokens": 0,
        "reasoning_tokens": 0,
        "calls": 0,
    }


LEARNING = st.builds(
    lambda index, rules, steps, seconds: trajectory(
        f"ls_{index}",
        events=[part for rule in rules for part in (routed("rule"), hit(rule))],
        step_count=steps,
        duration_seconds=seconds,
    ),
    st.integers(0, 4),
    st.lists(st.sampled_from(["r_0", "r_1", "ghost", None]), max_size=3),
    st.integers(0, 20),
    st.integers(0, 10_000).map(lambda cents: cents / 100),
)
ORDER_BOUND = {"rule_coverage", "ls_by_domain"}


@given(st.lists(LEARNING, max_size=6).flatmap(lambda runs: st.tuples(st.just(runs), st.permutations(runs))))
def test_the_order_of_learning_sessions_changes_no_number(
    orders: tuple[list[Trajectory], list[Trajectory]],
) -> None:
    tests = [trajectory("ts_0", [CALL])]
    one, other = (metrics_of(*order, *tests) for order in orders)
    assert {key: one[key] for key in one.keys() - ORDER_BOUND} == {
        key: other[key] for key in other.keys() - ORDER_BOUND
    }
    assert one["rule_coverage"]["ratio"] == other["rule_coverage"]["ratio"]
