"""The tables over many cells, and the formats that they are written in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any, cast

import pytest

from atr_evaluator.aggregate import TABLE_NAMES
from atr_evaluator.aggregate.all_tables import all_tables
from atr_evaluator.aggregate.figures import Column, Figure, FigureTable, ListTable
from atr_evaluator.aggregate.formats import FORMATS
from atr_evaluator.aggregate.loss_figures import gap_table
from atr_evaluator.aggregate.settings import ScoredCell, Setting, groups, unlike_personas, varying
from atr_evaluator.companions import pooled_companions
from tests.evaluator.aggregate.cells import results, scored


def table(name: str, *cells: ScoredCell) -> Any:
    (found,) = all_tables(cells, [name])
    return found


def figure(found: FigureTable, measure: str, variant: str = "atr", model: str = "lab/m") -> Figure:
    (one,) = [
        f for f in found.figures if (f.measure, f.variant, f.setting.model) == (measure, variant, model)
    ]
    return one


@pytest.mark.parametrize(
    "change",
    [
        {"layer": "none"},
        {"seed": "1"},
        {"trial": 2},
        {"dataset": "source 2"},
        {"user": "model"},
        {"reasoning": "off"},
        {"hook": True},
        {"smoke": True},
    ],
)
def test_what_differs_is_kept_apart_and_named(change: dict[str, Any]) -> None:
    cells = [scored(results(1, 1)), scored(results(2, 0), setting=change)]
    found = table("accuracy", *cells)
    assert len(found.settings) == 2
    assert varying(found.settings) == list(change)
    labels = {setting.label(varying(found.settings)) for setting in found.settings}
    assert len(labels) == 2
    assert sorted(f.value for f in found.figures if f.measure == "all") == [0.5, 1.0]


def test_personas_are_pooled_and_few_have_wilsons_interval() -> None:
    cells = [scored(results(1, 3), persona=f"p{n}") for n in range(3)]
    all_of_them = figure(table("accuracy", *cells), "all")
    assert (all_of_them.value, all_of_them.count) == (0.25, 12)
    assert all_of_them.interval == pytest.approx((0.0889, 0.5323), abs=5e-5)


def test_many_personas_are_drawn_as_they_are() -> None:
    cells = [scored(results(4 * (n % 2), 4 * ((n + 1) % 2)), persona=f"p{n:02}") for n in range(12)]
    all_of_them = figure(table("accuracy", *cells), "all")
    assert all_of_them.value == 0.5
    assert all_of_them.interval == pytest.approx((0.25, 0.75), abs=0.09)


def test_the_guess_bound_follows_from_the_faces() -> None:
    found = table("accuracy", scored(results(1, 1), faces=4))
    assert figure(found, "guess bound").value == 0.25
    assert figure(found, "guess bound, spraying").value == 1.0
    assert figure(table("accuracy", scored(results(1, 1))), "guess bound").text == "-"


def test_a_score_is_held_against_the_best_rule_blind_one() -> None:
    blind = [
        scored(results(passed, 6 - passed), setting={"model": name}, variant="oracle_target", blind=True)
        for name, passed in (("offline/noop", 0), ("offline/first", 1))
    ]
    found = table("accuracy", scored(results(6, 0)), *blind)
    assert figure(found, "best rule-blind").value == pytest.approx(1 / 6)
    assert figure(found, "above it").text == "yes (offline/first)"
    assert not [f for f in found.figures if f.measure == "above it" and f.setting.model != "lab/m"]


@pytest.mark.parametrize(
    ("costs", "total", "each"),
    [((1.0, 3.0), "$4.00", "$2.00"), ((1.0, None), "unknown", "unknown"), ((0.0, 0.0), "$0.00", "$0.00")],
)
def test_the_cost_of_a_point(costs: Sequence[float | None], total: str, each: str) -> None:
    cells = [scored(results(1, 1), persona=f"p{n}", cost_usd=c, paid=True) for n, c in enumerate(costs)]
    found = table("accuracy", *cells)
    assert (figure(found, "cost").text, figure(found, "each pass costs").text) == (total, each)


def test_cells_that_nobody_pays_for_have_no_cost() -> None:
    assert not [f for f in table("accuracy", scored(results(1, 1))).figures if f.kind == "dollars"]


def test_the_companions_stand_in_one_order_with_the_difference_after_its_parts() -> None:
    block = pooled_companions([])
    block["confirm"] |= {"tests": 4, "hits": 3, "sibling_tests": 2, "sibling_false_alarms": 1}
    block["scope_pairs"] |= {"both": 2, "one": 0, "none": 1}
    cell = scored(results(1, 1))
    cast(dict[str, Any], cell.document)["companions"] = block
    told = [(f.measure, f.value, f.count) for f in table("companions", cell).figures]
    assert told == [
        ("% confirmed, confirm rules", 0.75, 4),
        ("% confirmed, sibling rules", 0.5, 2),
        ("difference", 0.25, None),
        ("% confirmed, other rules", None, 0),
        ("% right object acted on", None, 0),
        ("% calls carried out", None, 0),
        ("pairs: both/one/none", 2, None),
        ("corrected later", 0, 0),
    ]
    assert figure(table("companions", cell), "pairs: both/one/none").note == "2/0/1"


@pytest.mark.parametrize("name", ["trials", "comparisons", "unfinished"])
def test_a_list_has_a_column_for_all_that_its_rows_tell(name: str) -> None:
    cells = [
        scored(results(passed, 12 - passed), setting={"model": model, "trial": trial}, missing=("t11",))
        for model, trial, passed in (("lab/a", 1, 0), ("lab/a", 2, 3), ("lab/b", 1, 11))
    ]
    found = table(name, *cells)
    assert {frozenset(row) for row in found.rows} == {frozenset(column.key for column in found.columns)}
    assert found.notes


def test_the_classes_sum_to_all_tests() -> None:
    lost = {"t1": "not_asked", "t2": "asked_past"}
    found = table("losses", scored(results(1, 3), losses=lost))
    shares = {f.measure: f.value for f in found.figures if f.measure != "sprayed"}
    assert shares == {"passed_knowing": 0.25, "not_asked": 0.25, "asked_past": 0.25, "misapplied": 0.25}
    assert figure(found, "sprayed").count == 4


def test_what_the_memory_kept_of_the_rules_that_were_heard_stands_between_asking_and_applying() -> None:
    known = {"heard": 4, "stored": 4, "stored_known": 4, "found": 1, "found_known": 2, "findable": 0}
    cells = [scored(results(2, 2), persona=name) for name in ("p0", "p1", "p2")]
    for cell, kept in zip(cells, (known, known | {"found": 2}, None), strict=True):
        cast(dict[str, Any], cell.document)["companions"] = {"retained": kept} if kept else {}
    found = table("losses", *cells)
    told = {f.measure: (f.value, f.count) for f in found.figures if f.measure.startswith("heard")}
    assert told == {"heard rules stored": (1.0, 8), "heard rules found": (0.75, 4)}
    assert [f.measure for f in found.figures][-2:] == list(told)
    assert any("stored, findable, found" in note for note in found.notes)
    assert not [f for f in table("losses", cells[2]).figures if f.measure.startswith("heard")]


def test_the_gap_is_explained_to_the_last_point() -> None:
    """Over the tests that both variants have, even where nobody recorded what could be read."""
    default = scored(
        results(1, 5),
        variant="default",
        losses={"t0": "unknown", "t1": "not_asked", "t2": "not_asked", "t3": "asked_past", "t4": "unknown"},
    )
    oracle = scored(results(4, 1), variant="oracle_target", losses={"t4": "not_tried"})
    found = gap_table(groups([default, oracle]))
    points = {f.measure: f.value for f in found.figures}
    gap = points.pop("gap")
    assert gap == pytest.approx(4 / 5 - 1 / 5)
    assert sum(value or 0 for value in points.values()) == pytest.approx(gap)
    assert points["not_asked"] == 0.4
    assert points["not_tried"] == -0.2
    assert points["unknown"] == 0.2


def test_without_one_of_both_there_is_no_gap() -> None:
    assert all_tables([scored(results(1, 1), variant="default")], ["gap"]) == []


def test_asking_is_told_as_it_went_on() -> None:
    def session(**counts: int) -> dict[str, Any]:
        return {"asks": 0, "hits": 0, "repeats": 0, "misses": 0, "errors": 0} | counts

    asking = [
        session(asks=2, hits=1, misses=1),
        session(asks=1, misses=1),
        session(asks=1, hits=1, repeats=1),
        session(),
        session(),
    ]
    found = table("asking", scored(results(1, 1), asking=asking, metrics={"rule_coverage": {"total": 8}}))
    assert figure(found, "asks per session").text == "0.80 (5)"
    assert figure(found, "asks per rule").text == "0.50 (8)"
    assert figure(found, "hit rate").short == "50.0 (4)"
    assert figure(found, "repeated, of hits").short == "50.0 (2)"
    assert [figure(found, f"hit rate, quarter {n}").short for n in (1, 2, 3, 4)] == [
        "33.3 (3)",
        "100.0 (1)",
        "-",
        "-",
    ]


def test_how_sessions_ended() -> None:
    ends = {"learning": {"task_complete": 3, "max_steps": 1}, "test": {"agent_stop": 2}}
    found = table("endings", scored(results(1, 1), metrics={"termination_breakdown": ends}))
    assert {f.measure: f.short for f in found.figures} == {
        "learning: max_steps": "25.0 (4)",
        "learning: task_complete": "75.0 (4)",
        "test: agent_stop": "100.0 (2)",
    }


def test_questions_per_session_are_no_percentage() -> None:
    metrics = {
        "total_learning": 4,
        "ls_send_calls_routed_rule": 6,
        "rule_coverage": {"ratio": 0.5, "total": 4},
    }
    found = table("published", scored(results(1, 1), metrics=metrics))
    assert (figure(found, "RuleAsk").text, figure(found, "RuleCov").text) == ("1.50 (1)", "50.0 (1)")


def test_trials_are_pooled_for_pass_at_k_alone() -> None:
    runs = [{"a": True, "b": True}, {"a": False, "b": True}, {"a": False}]
    cells = [scored(run, setting={"trial": n + 1}) for n, run in enumerate(runs)]
    cells.append(scored({"z": True}, variant="default"))
    found = table("trials", *cells)
    rows = {row["k"]: row for row in found.rows}
    assert {row["variant"] for row in found.rows} == {"atr"}
    assert rows[1]["pass_at_k"] == pytest.approx((1 / 3 + 1) / 2)
    assert (rows[2]["pass_hat_k"], rows[2]["tests"], rows[2]["not_played"]) == (0.5, 2, 1)
    assert (rows[3]["pass_at_k"], rows[3]["tests"], rows[3]["short"]) == (1.0, 1, 1)


def test_variants_and_models_are_compared_each_family_for_itself() -> None:
    cells = [
        scored(results(passed, 12 - passed), variant=variant, setting={"model": model})
        for variant, model, passed in (
            ("default", "lab/a", 0),
            ("atr", "lab/a", 12),
            ("atr", "lab/b", 11),
        )
    ]
    found = table("comparisons", *cells)
    told = {(r["compared"], r["first"], r["second"]): r["significant"] for r in found.rows}
    assert told == {("lab/a", "default", "atr"): "yes", ("atr", "lab/a", "lab/b"): "no"}


def test_what_is_not_complete_is_listed_with_the_reason() -> None:
    whole = scored(results(1, 1))
    torn = scored(results(1, 1), persona="q", missing=("t1",), problem="t1.json: is not JSON")
    broken = ScoredCell("r/atr", "r", "atr", whole.setting, problem="broken off: no key")
    found = table("unfinished", whole, torn, broken)
    assert [(row["cell"], row["problem"]) for row in found.rows] == [
        ("q/atr", "t1.json: is not JSON; missing: t1"),
        ("r/atr", "broken off: no key"),
    ]
    assert found.notes[0].startswith("2 of 3 cells")
    assert figure(table("accuracy", whole, torn, broken), "all").count == 4
    assert figure(table("published", whole, torn, broken), "TSAcc").count == 1


def test_unlike_personas_are_told() -> None:
    cells = [
        scored(results(1, 1), variant="default"),
        *(scored(results(1, 1), persona=persona) for persona in ("pp", "q")),
    ]
    assert unlike_personas(groups(cells)) == [
        "lab/m: the variants hold different personas (default 1, atr 2)"
    ]


CELLS = [
    scored(results(1, 1), variant="default", setting={"model": "lab/a_b|c&<d>$"}),
    scored(results(2, 0), variant="oracle_target", setting={"model": "lab/a_b|c&<d>$"}),
    scored(results(2, 0), variant="oracle_target", setting={"model": "=cmd()"}, missing=("t1",)),
]


def test_markdown_keeps_its_columns_whatever_a_model_is_called() -> None:
    text = FORMATS["md"](all_tables(CELLS))
    lines = [line.replace("\\|", "") for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in lines} <= {3, 4, 6, 13}
    assert "lab/a\\_b\\|c&&lt;d>$" in text


SHORT = [
    FigureTable(
        "one",
        "shares",
        [
            Figure(Setting("lab/m"), "default", "all", 0.25, count=4),
            Figure(Setting("lab/m"), "atr", "all", 0.5, count=4),
        ],
        ["a note"],
    ),
    ListTable("two", "lines", [Column("a", "A"), Column("b", "B", "share")], [{"a": "x", "b": 0.5}]),
]
WRITTEN = {
    "md": """
## shares

### lab/m

|  | default | atr |
| --- | ---: | ---: |
| all | 25.0 (4) | 50.0 (4) |

a note

## lines

| A | B |
| --- | --- |
| x | 50.0 |
""",
    "latex": r"""
% shares: lab/m
\begin{tabular}{lrr}
\toprule
 & default & atr \\
\midrule
all & 25.0 (4) & 50.0 (4) \\
\bottomrule
\end{tabular}

% a note

% lines
\begin{tabular}{ll}
\toprule
A & B \\
\midrule
x & 50.0 \\
\bottomrule
\end{tabular}
""",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_table_is_written_with_its_title_its_heads_and_its_notes(name: str) -> None:
    assert FORMATS[name](SHORT) == WRITTEN[name].lstrip("\n")


def test_the_gap_is_told_of_all_but_the_variant_that_it_starts_from() -> None:
    cells = [
        scored(results(n, 4 - n), variant=v) for n, v in ((1, "default"), (2, "atr"), (3, "oracle_target"))
    ]
    told = {f.variant: f.value for f in table("published", *cells).figures if f.measure == "GapRec"}
    assert told == {"atr": pytest.approx(0.5)}


def test_latex_has_no_sign_of_its_own_in_a_name() -> None:
    text = FORMATS["latex"](all_tables(CELLS))
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") > 3
    assert "passed\\_knowing" in body and "not_" not in body


def test_json_and_csv_hold_the_raw_values() -> None:
    tables = all_tables(CELLS)
    documents = json.loads(FORMATS["json"](tables))["tables"]
    assert [(one["name"], one["title"], one["notes"]) for one in documents] == [
        (one.name, one.title, list(one.notes)) for one in tables
    ]
    told = {one["name"]: one["rows"] for one in documents}
    assert set(told) <= set(TABLE_NAMES)
    (row,) = [r for r in told["accuracy"] if (r["measure"], r["variant"]) == ("all", "default")]
    assert (row["value"], row["count"], row["model"]) == (0.5, 2, "lab/a_b|c&<d>$")
    assert row["low"] == pytest.approx(0.0945, abs=5e-5)
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](tables))))
    assert {r["table"] for r in rows} == set(told)
    assert {r["model"] for r in rows if r["table"] == "accuracy"} == {"lab/a_b|c&<d>$", "'=cmd()"}
    assert [float(r["value"]) for r in rows if r["measure"] == "all"] == [1.0, 0.5, 1.0]


def test_nothing_at_all_is_still_a_document() -> None:
    assert json.loads(FORMATS["json"]([])) == {"tables": []}
    assert FORMATS["csv"]([]) == "table\n"
    assert isinstance(table("unfinished", CELLS[2]), ListTable)
