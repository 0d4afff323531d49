"""What changed from one run to another."""

from __future__ import annotations

from typing import Any

import pytest

from atr_evaluator.aggregate.run_comparison import run_comparison
from tests.evaluator.aggregate.cells import results, scored


def compared(first: list[Any], second: list[Any]) -> dict[str, Any]:
    return {table.name: table for table in run_comparison(first, second)}


def test_shares_classes_and_tests_that_changed() -> None:
    before = scored(results(1, 3), losses={"t1": "not_asked"})
    after = scored(results(2, 2))
    found = compared([before], [after])
    (row,) = found["changes"].rows
    assert (row["compared"], row["first_share"], row["second_share"]) == ("lab/m atr", 0.25, 0.5)
    assert (row["won"], row["lost"], row["significant"]) == (1, 0, "no")
    classes = {row["loss_class"]: row["difference"] for row in found["classes"].rows}
    assert classes == {"passed_knowing": 0.25, "not_asked": -0.25, "misapplied": 0.0}
    (flip,) = found["tests"].rows
    assert (flip["test"], flip["first_class"], flip["second_class"]) == (
        "pp_seed000/t1",
        "not_asked",
        "passed_knowing",
    )


def test_a_large_change_is_significant_and_a_run_against_itself_is_not() -> None:
    worse, better = scored(results(0, 20)), scored(results(18, 2))
    assert compared([worse], [better])["changes"].rows[0]["significant"] == "yes"
    same = compared([better], [better])
    assert (same["changes"].rows[0]["difference"], same["changes"].rows[0]["p"]) == (0, 1)
    assert same["tests"].rows == []


@pytest.mark.parametrize(
    "change", [{"model": "lab/n"}, {"layer": "none"}, {"user": "model", "layer": "none"}]
)
def test_what_the_runs_differ_by_is_named_and_not_in_the_way(change: dict[str, Any]) -> None:
    found = compared([scored(results(1, 3))], [scored(results(1, 3), setting=change)])
    assert len(found["changes"].rows) == 1
    assert all(any(name in note for note in found["changes"].notes) for name in change)
    assert found["alone"].rows == []


def test_what_only_one_run_has_is_listed() -> None:
    both, alone = scored(results(1, 1)), scored(results(1, 1), variant="default")
    found = compared([both, alone], [both])
    assert [(row["side"], row["what"]) for row in found["alone"].rows] == [("A", "lab/m default")]


def test_trials_are_pooled() -> None:
    trials = [scored({"a": passed}, setting={"trial": n}) for n, passed in ((1, True), (2, False))]
    found = compared(trials, [scored({"a": True})])
    assert found["changes"].rows[0]["first_share"] == 0.5
    assert [row["first"] for row in found["tests"].rows] == [0.5]


def test_nothing_in_common_is_an_error() -> None:
    with pytest.raises(ValueError, match="no test"):
        compared([scored({"a": True})], [scored({"b": True})])
