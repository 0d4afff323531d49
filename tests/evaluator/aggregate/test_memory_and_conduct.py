"""Tables of what the memory cost, of asking, spraying and money, from counts worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from atr_evaluator.aggregate.all_tables import all_tables
from atr_evaluator.aggregate.figures import FigureTable
from atr_evaluator.aggregate.settings import ScoredCell
from atr_evaluator.companions import pooled_companions
from tests.evaluator.aggregate.cells import results, scored


def with_companions(cell: ScoredCell, blocks: Mapping[str, Any]) -> ScoredCell:
    cast(dict[str, Any], cell.document)["companions"] = blocks
    return cell


def told(name: str, *cells: ScoredCell) -> dict[str, tuple[Any, str, str]]:
    (found,) = all_tables(cells, [name])
    assert isinstance(found, FigureTable)
    return {figure.measure: (figure.value, figure.kind, figure.text) for figure in found.figures}


def test_what_the_memory_cost_is_told_per_test() -> None:
    costs = {
        "tests": 4,
        "pushed_characters": 1600,
        "returned_characters": 80,
        "tool_calls": 6,
        "stored_bytes": 1000,
        "milliseconds": 3000,
        "discarded_writes": 5,
    }
    cells = [
        with_companions(scored(results(1, 1), persona="p"), {"memory": costs}),
        with_companions(scored(results(1, 1), persona="q"), {"memory": {**costs, "tests": 0}}),
        with_companions(scored(results(1, 1), persona="r"), {}),
    ]
    assert told("memory", *cells) == {
        "tokens pushed": (200.0, "rate", "200.00"),
        "tokens read": (10.0, "rate", "10.00"),
        "memory tool calls": (3.0, "rate", "3.00"),
        "bytes stored": (500.0, "rate", "500.00"),
        "seconds": (1.5, "rate", "1.50"),
        "writes discarded, all tests": (10, "count", "10"),
    }
    (found,) = all_tables(cells, ["memory"])
    assert (found.name, found.title, len(found.notes)) == ("memory", "memory", 2)
    assert all_tables(cells[2:], ["memory"]) == []


def test_of_the_tool_tests_that_were_played_those_that_sprayed_are_told() -> None:
    cell = scored({"a": True, "b": True, "c": False, "d": False}, missing=("d",))
    document = cast(dict[str, Any], cell.document)
    document["session_results"][1]["check_type"] = "param_id"
    for loss in document["losses"]:
        loss["sprayed"] = loss["session_id"] in ("a", "b")
    assert (
        told("losses", cell)["sprayed"][2].startswith("50.0 ") and "(2)" in told("losses", cell)["sprayed"][2]
    )
    for result in document["session_results"]:
        result["check_type"] = "param_id"
    assert "sprayed" not in told("losses", cell)


def test_confirming_is_told_beside_asking_where_it_was_counted() -> None:
    asking = [{"asks": 1, "hits": 1, "repeats": 0, "misses": 0, "errors": 0}]
    block = pooled_companions([])
    block["confirm"] |= {"tests": 4, "hits": 3, "sibling_tests": 2, "sibling_false_alarms": 1}
    counted = with_companions(scored(results(1, 1), asking=asking), block)
    measure = "confirm hits minus false alarms"
    assert told("asking", counted)[measure] == (0.25, "points", "+25.0")
    assert told("asking", scored(results(1, 1), asking=asking))[measure] == (None, "points", "-")


@pytest.mark.parametrize(
    ("cells", "cost", "each"),
    [
        ([(2.0, 2, True), (1.0, 1, True)], "$3.00", "$1.00"),
        ([(2.0, 0, True)], "$2.00", "-"),
        ([(2.0, 1, True), (None, 1, True)], "unknown", "unknown"),
        ([(0.0, 1, False), (1.0, 1, True)], "$1.00", "$0.50"),
    ],
)
def test_each_pass_costs_its_share(cells: list[tuple[float | None, int, bool]], cost: str, each: str) -> None:
    found = told(
        "accuracy",
        *(
            scored(results(passed, 2 - passed), persona=f"p{n}", cost_usd=dollars, paid=paid)
            for n, (dollars, passed, paid) in enumerate(cells)
        ),
    )
    assert (found["cost"][2], found["each pass costs"][2]) == (cost, each)
    assert (found["cost"][1], found["each pass costs"][1]) == ("dollars", "dollars")


def test_tests_are_cut_by_kind_and_domain() -> None:
    cell = scored({"a": True, "b": False, "c": True})
    document = cast(dict[str, Any], cell.document)
    for result, kind, domain in zip(
        document["session_results"],
        ("confirm", "confirm", "param_id"),
        ("travel", "", "commerce"),
        strict=True,
    ):
        result |= {"check_type": kind, "domain": domain}
    found = {measure: (value, text[-3:]) for measure, (value, _, text) in told("accuracy", cell).items()}
    assert list(found) == [
        "all",
        "confirm",
        "param_id",
        "commerce",
        "travel",
        "guess bound",
        "guess bound, spraying",
    ]
    assert found["all"] == (2 / 3, "(3)")
    assert (found["confirm"], found["param_id"]) == ((0.5, "(2)"), (1.0, "(1)"))
    assert (found["commerce"], found["travel"]) == ((1.0, "(1)"), (1.0, "(1)"))
    assert found["guess bound"][0] is found["guess bound, spraying"][0] is None
