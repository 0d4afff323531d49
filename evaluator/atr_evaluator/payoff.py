"""How many test sessions passed: in all, by check type, and by domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from atr_evaluator.numbers import ratio
from atr_evaluator.sessions import SessionResult


def payoff_metrics(results: Sequence[SessionResult]) -> dict[str, Any]:
    """Counts and accuracies, 0.0 over no sessions. `by_domain` leaves out results without a domain."""
    score = tally(results)
    by_domain = group(results, lambda result: result["domain"])
    return {
        "ts_payoff_accuracy": score["accuracy"],
        "payoff_accuracy": score["accuracy"],
        "total_test": score["total"],
        "success_count": score["success"],
        "by_check_type": _by_check_type(results),
        "by_domain": {
            domain: {**tally(members), "by_check_type": _by_check_type(members)}
            for domain, members in by_domain.items()
            if domain
        },
    }


def tally(results: Sequence[SessionResult]) -> dict[str, Any]:
    """`total`, `success`, and `accuracy` to four decimals."""
    success = sum(result["task_success"] for result in results)
    return {
        "total": len(results),
        "success": success,
        "accuracy": ratio(success, len(results)) or 0.0,
    }


def group(
    results: Sequence[SessionResult], key: Callable[[SessionResult], str]
) -> dict[str, list[SessionResult]]:
    """Results by key, keys in the order in which they first occur."""
    groups: dict[str, list[SessionResult]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return groups


def _by_check_type(results: Sequence[SessionResult]) -> dict[str, Any]:
    groups = group(results, lambda result: result["check_type"])
    return {check_type: tally(members) for check_type, members in groups.items()}
