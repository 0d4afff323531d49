"""The best rule-blind score, intervals over trials, and all that a comparison of two runs tells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from atr_evaluator.aggregate.all_tables import all_tables
from atr_evaluator.aggregate.figures import ListTable
from atr_evaluator.aggregate.run_comparison import run_comparison
from atr_evaluator.aggregate.settings import ScoredCell
from atr_evaluator.validity import exact_sign_test
from tests.evaluator.aggregate.cells import results, scored


def blind(name: str, passed: dict[str, bool], persona: str = "pp", trial: int = 1) -> ScoredCell:
    return scored(passed, persona=persona, setting={"model": name, "trial": trial}, blind=True)


def told(*cells: ScoredCell) -> dict[str, Any]:
    """The figures on the best rule-blind score of the model under test."""
    (found,) = all_tables(cells, ["accuracy"])
    assert not isinstance(found, ListTable)
    figures = [f for f in found.figures if f.setting.model == "lab/m"]
    return {f.measure: (f.value, f.text) for f in figures if f.measure in ("best rule-blind", "above it")}


OWN = scored({"a": True, "b": True, "c": False})


def test_the_best_of_those_who_played_all_the_same_tests_is_taken() -> None:
    cells = (
        blind("offline/worse", {"a": False, "b": False, "c": True}),
        blind("offline/best", {"a": True, "b": False, "c": True, "elsewhere": False}),
        blind("offline/less", {"a": True, "b": True}),
        blind("offline/zz", {"a": False, "b": True, "c": True}),
    )
    found = told(OWN, *reversed(cells))
    assert found["best rule-blind"] == (2 / 3, "66.7 (3)")
    assert found["above it"] == (exact_sign_test(1, 1), "NO (offline/best)")
    assert told(OWN, cells[2]) == told(OWN, blind("offline/x", {"a": True, "b": True, "c": True}, "q")) == {}
    assert told(OWN) == {}


@pytest.mark.parametrize(
    "other", [{"setting": {"model": "offline/x", "dataset": "source 2"}}, {"episode_digest": "changed"}]
)
def test_other_episodes_of_the_same_name_are_other_tests(other: dict[str, Any]) -> None:
    fields = {"setting": {"model": "offline/x"}, **other}
    cell = scored({"a": True, "b": True, "c": True}, blind=True, **fields)
    assert told(OWN, cell) == {}


def test_trials_of_a_rule_blind_model_are_each_for_itself() -> None:
    cells = [blind("offline/x", {"a": n == 1, "b": n == 2, "c": False}, trial=n) for n in (1, 2)]
    assert told(OWN, *cells)["best rule-blind"][0] == 1 / 3
    halves = [blind("offline/x", {"a": True}, trial=1), blind("offline/x", {"b": True, "c": True}, trial=2)]
    assert told(OWN, *halves) == {}


def test_who_never_learns_is_held_against_nobody() -> None:
    (found,) = all_tables([blind("offline/x", {"a": True}), blind("offline/y", {"a": True})], ["accuracy"])
    assert not isinstance(found, ListTable)
    assert not [f for f in found.figures if f.measure in ("best rule-blind", "above it")]


def trials(**runs: list[dict[str, bool]]) -> ListTable:
    """Of each persona the results of one trial after the other."""
    cells = [
        scored(passed, persona=persona, setting={"trial": number})
        for persona, all_of_them in runs.items()
        for number, passed in enumerate(all_of_them, start=1)
    ]
    (found,) = all_tables(cells, ["trials"])
    assert isinstance(found, ListTable)
    return found


def test_intervals_over_trials_draw_personas_of_equal_weight() -> None:
    found = trials(
        p=[{"a": True, "b": False}, {"a": False, "b": False}],
        q=[{"a": True, "b": False}, {"a": True}],
    )
    assert [[found.text(row, column) for column in found.columns] for row in found.rows] == [
        ["lab/m", "atr", "1", "37.5", "[25.0, 50.0]", "37.5", "[25.0, 50.0]", "4", "0", "1"],
        ["lab/m", "atr", "2", "66.7", "[50.0, 100.0]", "33.3", "[0.0, 100.0]", "3", "1", "1"],
    ]
    assert [column.title for column in found.columns] == [
        "model",
        "variant",
        "k",
        "pass@k, %",
        "interval",
        "pass^k, %",
        "interval",
        "tests",
        "tests with fewer",
        "not played",
    ]
    assert (found.name, len(found.notes)) == ("trials", 1)
    assert all_tables([scored({"a": True})], ["trials"]) == []


def test_of_one_persona_there_is_no_interval() -> None:
    rows = trials(p=[{"a": True, "b": False}, {"a": False, "b": False}]).rows
    assert [(row["pass_at_k_interval"], row["pass_hat_k_interval"]) for row in rows] == [(None, None)] * 2


# Two runs


def compared(first: list[ScoredCell], second: list[ScoredCell]) -> dict[str, ListTable]:
    return {table.name: table for table in run_comparison(first, second)}


def test_every_table_of_a_comparison_has_a_column_for_all_that_its_rows_tell() -> None:
    first = [scored(results(2, 2)), scored(results(1, 0), variant="default")]
    second = [scored(results(1, 3)), scored(results(1, 0), variant="oracle_full")]
    found = compared(first, second)
    assert list(found) == ["changes", "classes", "tests", "alone"]
    for table in found.values():
        assert table.rows
        for row in table.rows:
            assert all(table.text(row, column) for column in table.columns)
    heads = {name: [c.title for c in table.columns] for name, table in found.items()}
    assert {name: head for name, head in heads.items() if name != "changes"} == {
        "classes": ["compared", "class", "A, %", "B, %", "difference, points"],
        "tests": ["compared", "test", "A", "B", "class in A", "class in B"],
        "alone": ["only in", "what", "cells"],
    }
    assert heads["changes"][-4:] == ["won", "lost", "A, cost", "B, cost"]
    words = {name: [c.key for c in table.columns if c.kind == "text"] for name, table in found.items()}
    assert words == {
        "changes": ["compared", "interval", "significant"],
        "classes": ["compared", "loss_class"],
        "tests": ["compared", "test", "first_class", "second_class"],
        "alone": ["side", "what"],
    }
    kinds = {c.key: c.kind for table in found.values() for c in table.columns if c.kind != "text"}
    assert kinds == {
        "first_share": "share",
        "second_share": "share",
        "difference": "points",
        "p": "p",
        "p_holm": "p",
        "tests": "count",
        "personas": "count",
        "won": "count",
        "lost": "count",
        "first_cost": "dollars",
        "second_cost": "dollars",
        "first": "rate",
        "second": "rate",
        "cells": "count",
    }


def test_what_was_won_and_lost_counts_tests_that_both_played() -> None:
    first = scored({"a": True, "b": True, "c": False, "d": False, "only": True})
    second = scored({"a": False, "b": True, "c": True, "d": True, "other": True})
    found = compared([first], [second])
    (row,) = found["changes"].rows
    assert (row["won"], row["lost"], row["tests"]) == (2, 1, 4)
    assert (row["first_share"], row["second_share"], row["difference"]) == (0.5, 0.75, 0.25)
    shares = {row["loss_class"]: (row["first_share"], row["second_share"]) for row in found["classes"].rows}
    assert shares == {"passed_knowing": (0.5, 0.75), "misapplied": (0.5, 0.25)}
    none_lost = compared([scored(results(2, 0))], [scored(results(1, 1))])["classes"].rows
    assert [(row["loss_class"], row["first_share"], row["second_share"]) for row in none_lost] == [
        ("passed_knowing", 1.0, 0.5),
        ("misapplied", 0.0, 0.5),
    ]
    assert [(row["test"], row["first"], row["second"]) for row in found["tests"].rows] == [
        ("pp_seed000/a", 1.0, 0.0),
        ("pp_seed000/c", 0.0, 1.0),
        ("pp_seed000/d", 0.0, 1.0),
    ]


@pytest.mark.parametrize(
    ("costs", "cost"), [((1.0, 2.5), 3.5), ((1.0, None), None), ((0.0, 0.0), 0), ((None, None), None)]
)
def test_a_cost_that_is_unknown_in_part_is_unknown(
    costs: tuple[float | None, ...], cost: float | None
) -> None:
    first = [scored(results(1, 1), persona=f"p{n}", cost_usd=one) for n, one in enumerate(costs)]
    second = [scored(results(1, 1), persona=f"p{n}", cost_usd=7.0) for n in range(len(costs))]
    (row,) = compared(first, second)["changes"].rows
    assert (row["first_cost"], row["second_cost"], row["personas"]) == (cost, 14.0, 2)


def test_what_the_runs_differ_by_is_told_with_both_values() -> None:
    first = [
        scored(results(1, 1), setting={"layer": "none"}),
        scored(results(1, 1), variant="default", setting={"layer": "none"}),
    ]
    second = [scored(results(1, 1), setting={"layer": "notes", "trial": 2})]
    found = compared(first, second)
    assert found["changes"].notes[1:] == ("A and B differ by layer: none, notes",)
    assert found["changes"].notes[0].endswith(" Holm's correction holds over all rows.")
    assert found["changes"].notes[0].startswith("paired bootstrap, ")
    assert found["changes"].notes[0].count("Holm's") == 1
    assert [(r["side"], r["what"], r["cells"]) for r in found["alone"].rows] == [("A", "lab/m default", 1)]


def test_a_field_that_varies_within_a_run_is_no_difference_between_runs() -> None:
    first = [scored(results(1, 1), setting={"layer": name}) for name in ("none", "notes")]
    second = [scored(results(2, 0), setting={"layer": "notes"})]
    found = compared(first, second)
    assert [row["compared"] for row in found["changes"].rows] == ["lab/m, layer notes atr"]
    assert [(r["side"], r["what"]) for r in found["alone"].rows] == [("A", "lab/m, layer none atr")]
    assert len(found["changes"].notes) == 1
    back = compared(second, first)
    assert [row["compared"] for row in back["changes"].rows] == ["lab/m, layer notes atr"]
    assert [(r["side"], r["what"]) for r in back["alone"].rows] == [("B", "lab/m, layer none atr")]


def test_rows_stand_in_the_order_of_settings_and_models_apart_have_no_name() -> None:
    first = [scored(results(1, 1), variant=name) for name in ("default", "atr")]
    second = [scored(results(1, 1), variant=name, setting={"model": "lab/n"}) for name in ("default", "atr")]
    found = compared(first, second)
    assert [row["compared"] for row in found["changes"].rows] == ["atr", "default"]
    assert found["changes"].notes[1:] == ("A and B differ by model: lab/m, lab/n",)


def test_rows_of_two_models_apart_are_told_apart_by_what_else_varies() -> None:
    first, second = (
        [scored(results(1, 1), setting={"model": model, "layer": layer}) for layer in ("none", "notes")]
        for model in ("lab/m", "lab/n")
    )
    rows = compared(first, second)["changes"].rows
    assert [row["compared"] for row in rows] == ["layer none atr", "layer notes atr"]


def test_two_episodes_of_a_persona_are_two_sets_of_tests() -> None:
    def of(episode_id: str, passed: bool) -> ScoredCell:
        cell = scored({"a": passed})
        assert cell.document
        return replace(cell, document={**cell.document, "episode_id": episode_id})

    found = compared([of("one", True), of("two", False)], [of("one", False), of("two", False)])
    (row,) = found["changes"].rows
    assert (row["tests"], row["lost"], row["first_share"]) == (2, 1, 0.5)


def test_one_episode_under_two_personas_is_two_tests_and_notes_stand_under_changes_alone() -> None:
    first = [scored({"a": True}, persona=name) for name in ("p", "q")]
    second = [scored({"a": name == "p"}, persona=name) for name in ("p", "q")]
    found = compared(first, second)
    assert [row["test"] for row in found["tests"].rows] == ["q_seed000/a"]
    assert found["tests"].notes == ("passed is 1, failed 0; of several trials the mean",)
    assert compared(first, first)["tests"].notes == ()
    assert compared(first, first)["alone"].rows == []


def test_of_several_trials_the_last_names_the_class_and_no_class_is_empty() -> None:
    first = [
        scored({"a": False, "b": True}, setting={"trial": n}, losses={"a": kind})
        for n, kind in ((2, "misapplied"), (1, "not_asked"))
    ]
    found = compared(first, [scored({"a": True, "b": True})])
    (row,) = found["tests"].rows
    assert (row["first"], row["first_class"], row["second_class"]) == (0.0, "misapplied", "passed_knowing")
    old = scored({"a": True, "b": True})
    assert old.document
    old = ScoredCell(old.cell_id, "pp", "atr", old.setting, {**old.document, "losses": None})
    (row,) = compared(first, [old])["tests"].rows
    assert (row["first_class"], row["second_class"]) == ("misapplied", "")
    assert compared(first, [old])["classes"].rows == []
    (row,) = compared([old], first)["tests"].rows
    assert (row["first_class"], row["second_class"]) == ("", "misapplied")
