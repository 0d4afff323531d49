"""The validity report: the yardstick's numbers, its bounds, and what a part of a dataset is held to."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_data import load_episode
from atr_data.episode import Episode, Reference
from atr_datagen.plan.simulation import simulate
from atr_datagen.plan.table import read_plan
from atr_datagen.source.compile import compile_sources
from atr_datagen.validity import GATES, as_json, as_markdown, judge, report
from atr_datagen.validity.policies import feature, pick_probability
from atr_datagen.validity.variety import near_pairs
from tests.conftest import ROOT
from tests.support.sources import SOURCE

ONTOLOGY = ROOT / "ontology" / "atr_ontology" / "tools.yaml"


@pytest.fixture(scope="module")
def yardstick(shared_dir: Path) -> Path:
    script = shared_dir / "tools" / "validity_report_v2.py"
    if not script.is_file():
        pytest.skip("no yardstick here")
    return script


def measured(script: Path, episodes: Path, out: Path) -> tuple[dict[str, Any], list[list[str]]]:
    """The yardstick's numbers, and its lines on the bounds as words."""
    arguments = ["--episodes", episodes, "--ontology", ONTOLOGY, "--check", "--json", out, "--rows", "0"]
    shown = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
    bounds = shown.stdout.partition("== gates")[2].splitlines()
    return json.loads(out.read_text(encoding="utf-8"))["metrics"], [line.split() for line in bounds[1:-1]]


def folder_of(name: str, shared: Path, tmp_path: Path) -> Path:
    """The official episodes, ours, the small ones of the tests, or those a plan leads to expect."""
    match name:
        case "official":
            return shared / "official" / "episodes"
        case "ours":
            return ROOT / "data" / "episodes"
        case "fixture":
            compile_sources(SOURCE, tmp_path / name)
        case _:
            (tmp_path / name).mkdir()
            for episode in simulate(read_plan(ROOT / "data" / "plan.csv"), 0):
                path = tmp_path / name / f"{episode.episode_id}.json"
                path.write_text(episode.model_dump_json(), encoding="utf-8")
    return tmp_path / name


@pytest.mark.parametrize("name", ["official", "ours", "fixture", "simulated"])
def test_every_number_is_that_of_the_yardstick(
    name: str, yardstick: Path, shared_dir: Path, tmp_path: Path
) -> None:
    folder = folder_of(name, shared_dir, tmp_path)
    if not folder.is_dir():
        pytest.skip("no official release here")
    expected, bounds = measured(yardstick, folder, tmp_path / "report.json")
    found = report(load_episode(path) for path in sorted(folder.glob("*_seed000.json")))
    assert found == pytest.approx(expected, abs=1e-9)
    verdicts = judge(found)
    assert [v.bound.metric for v in verdicts] == [line[1] for line in bounds]
    assert [(v.bound.comparison, v.bound.value) for v in verdicts] == [(b[3], float(b[4])) for b in bounds]
    if found["counts.personas"] == 20:
        theirs = {line[1]: line[0] == "pass" for line in bounds}
        assert {v.bound.metric: v.ok for v in verdicts} == theirs


def test_a_confirmation_counts_for_the_tool_to_be_confirmed(one: Episode) -> None:
    confirm = next(rule.rule_id for rule in one.rules if rule.check_type == "confirm")
    data = one.model_dump(mode="json")
    (test,) = (test for test in data["test_sessions"] if test["rule_id"] == confirm)
    other = json.loads(json.dumps(test))
    other["labels"]["task_success"]["required_actions"][0]["arguments"]["target_tool"] = "book_event_ticket"
    both = Episode.model_validate({**data, "test_sessions": [*data["test_sessions"], other]})
    found = report([both])
    assert found["dup.binding_top_share"] == 1 / 6


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Episode:
    (path,) = compile_sources(SOURCE, tmp_path_factory.mktemp("episodes"))
    return load_episode(path)


def test_the_more_personas_the_more_bounds_are_judged(one: Episode) -> None:
    def judged(personas: int) -> dict[str, float]:
        verdicts = judge(report([one] * personas))
        return {v.bound.metric: v.limit for v in verdicts if v.ok is not None}

    few, five, whole = judged(1), judged(5), judged(20)
    assert few.keys() < five.keys() < whole.keys() == {bound.metric for bound in GATES}
    assert len(GATES) == 60
    assert (five["shortcut.param_id_best"], whole["shortcut.param_id_best"]) == (0.40, 0.32)
    assert (five["pool.gold_first_share"], whole["pool.gold_first_share"]) == (0.35, 0.30)
    assert (five["shortcut.best_lopo"], whole["shortcut.best_lopo"]) == (0.45, 0.36)
    assert "structure.errors" in few and "counts.rules" not in five


def test_what_is_not_judged_says_why(one: Episode) -> None:
    reasons = {v.bound.metric: v.reason for v in judge(report([one]))}
    assert "says something only of the whole set" in reasons["dist.tools_never_exercised"]
    assert "few personas" in reasons["oracle.lexical_overall"]
    assert reasons["structure.errors"] == ""


def test_both_renderings_show_every_measure_and_bound(one: Episode) -> None:
    metrics = report([one])
    markdown, data = as_markdown(metrics), json.loads(as_json(metrics))
    assert data["metrics"] == metrics
    assert [bound["metric"] for bound in data["bounds"]] == [bound.metric for bound in GATES]
    assert all(f"| `{name}` |" in markdown for name in metrics)
    assert (
        "1 personas, 5 rules, 4 learning sessions, 5 test sessions. 14 of 14 bounds hold; 46 are not"
        in markdown
    )
    assert markdown.count("not judged |") == 46


def test_without_tests_there_is_nothing_to_measure(one: Episode) -> None:
    with pytest.raises(ValueError, match="no episode with tests and learning sessions"):
        report([one.model_copy(update={"test_sessions": []})])
    with pytest.raises(ValueError, match="nothing to measure"):
        report([])


@given(
    values=st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=1, max_size=6),
    count=st.integers(1, 3),
)
def test_a_policy_picks_some_set_of_candidates_with_certainty(
    values: Sequence[int | None], count: int
) -> None:
    picks = combinations(range(len(values)), min(count, len(values)))
    assert sum(pick_probability(values, frozenset(pick)) for pick in picks) == pytest.approx(1)


@pytest.mark.parametrize(
    ("attributes", "kind", "number"),
    [
        ({"rating": 4.5}, "rating", 4.5),
        ({"rating_count": 80, "stars": 3}, "rating", 3),
        ({"price_per_night": 120, "price_range": "$$$"}, "price", 3),
        ({"previous_price": 9}, "price", None),
        ({"price_range": "moderate"}, "price", None),
        ({"review_count": 12}, "popularity", 12),
        ({"sales_rank": 7}, "popularity", -7),
        ({"visit_minutes": 30}, "popularity", None),
        ({"walk_minutes": 12}, "proximity", -12),
        ({"available_rooms": True, "seats": 2}, "availability", 2),
    ],
)
def test_numbers_are_read_by_the_name_of_their_field(
    attributes: dict[str, Any], kind: str, number: float | None
) -> None:
    assert feature(Reference(id="x", type="y", attributes=attributes), kind) == number


WORD_SETS = st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=4), max_size=8)


@given(WORD_SETS, st.floats(0.1, 1.0))
def test_near_pairs_are_all_pairs_that_are_alike(sets: list[frozenset[str]], bound: float) -> None:
    brute = {
        (i, j)
        for i, j in combinations(range(len(sets)), 2)
        if sets[i] & sets[j] and len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= bound
    }
    found = [(i, j) for _, i, j in near_pairs(sets, bound)]
    assert set(found) == brute and len(found) == len(brute)
