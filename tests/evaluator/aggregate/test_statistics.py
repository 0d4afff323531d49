"""Intervals, paired differences, Holm's correction, repeated trials."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_evaluator.aggregate.bootstrap import (
    draws,
    mean_interval,
    share_interval,
    wilson_interval,
)
from atr_evaluator.aggregate.paired import Test, holm, paired_difference
from atr_evaluator.aggregate.trials import Trials, over_trials, trials_of


@pytest.mark.parametrize("clusters", [1, 2, 7, 20, 64])
def test_draws_are_those_of_the_standard_generator(clusters: int) -> None:
    generator = random.Random(42)
    expected = [[generator.randrange(clusters) for _ in range(clusters)] for _ in range(50)]
    assert [list(drawn) for drawn in draws(clusters, 50)] == expected


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_wilsons_interval_is_the_textbooks(part: int, whole: int, low: float, high: float) -> None:
    assert wilson_interval(part, whole) == pytest.approx((low, high), abs=5e-5)


@given(st.lists(st.tuples(st.integers(0, 5), st.just(5)), min_size=1, max_size=12))
def test_an_interval_holds_the_share_when_clusters_are_of_a_size(clusters: list[tuple[int, int]]) -> None:
    low, high = share_interval(clusters, 200)
    share = sum(part for part, _ in clusters) / sum(whole for _, whole in clusters)
    assert 0 <= low <= high <= 1
    assert (low, high) == pytest.approx(mean_interval([part / 5 for part, _ in clusters], 200))
    assert min(part / 5 for part, _ in clusters) <= share <= max(part / 5 for part, _ in clusters)


def test_no_values_have_no_interval() -> None:
    assert str(mean_interval([])) == str(share_interval([])) == str(wilson_interval(0, 0)) == "(nan, nan)"


def _tests(values: list[int], personas: int) -> dict[Test, float]:
    return {(f"p{n % personas}", n): float(value) for n, value in enumerate(values)}


def test_equal_runs_do_not_differ() -> None:
    run = _tests([1, 0, 1, 1, 0, 0, 1, 0], 2)
    found = paired_difference(run, run)
    assert found is not None
    assert (found.difference, found.interval, found.p_value) == (0.0, (0.0, 0.0), 1.0)


@pytest.mark.parametrize(("personas", "unit"), [(9, "test"), (10, "persona")])
def test_what_is_drawn_depends_on_how_many_personas_there_are(personas: int, unit: str) -> None:
    worse, better = _tests([0] * 60, personas), _tests([1] * 40 + [0] * 20, personas)
    found = paired_difference(worse, better)
    assert found is not None
    assert found.unit == unit
    assert found.difference == pytest.approx(2 / 3)
    assert found.interval[0] > 0.4
    assert found.p_value < 0.001
    back = paired_difference(better, worse)
    assert back is not None
    assert (back.difference, back.p_value) == (-found.difference, found.p_value)


@pytest.mark.parametrize("personas", [1, 12])
def test_what_every_test_gains_is_the_difference_and_its_interval(personas: int) -> None:
    tests = [(f"p{n:02}", name) for n in range(personas) for name in "abcd"]
    found = paired_difference(dict.fromkeys(tests, 0.25), dict.fromkeys(tests, 0.75))
    assert found and (found.difference, found.interval) == (0.5, (0.5, 0.5))
    assert (found.first, found.second, found.tests, found.personas) == (0.25, 0.75, 4 * personas, personas)


def test_only_shared_tests_are_compared() -> None:
    found = paired_difference(_tests([1, 1, 0, 0], 1), _tests([1, 1], 1))
    assert found is not None
    assert (found.tests, found.first, found.second) == (2, 1.0, 1.0)
    assert paired_difference(_tests([1], 1), {("other", 0): 1.0}) is None


def test_under_no_difference_few_are_significant() -> None:
    """Two runs whose tests pass by the same coin: about one in twenty may differ at 0.05."""
    generator = random.Random(5)
    found = 0
    for _ in range(60):
        first, second = (_tests([generator.random() < 0.5 for _ in range(40)], 4) for _ in range(2))
        compared = paired_difference(first, second, resamples=400)
        assert compared is not None
        found += compared.p_value < 0.05
    assert found <= 8


def test_holm_is_the_textbooks() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(new >= old for new, old in zip(adjusted, p_values, strict=True))
    for (old, new), (other, another) in product(zip(p_values, adjusted, strict=True), repeat=2):
        assert not (old < other and new > another)


def test_pass_at_k_and_pass_hat_k_count_draws() -> None:
    """Two of four trials passed: of the six pairs one has two passes, and one none."""
    one = Trials(4, 2)
    assert (one.any_of(1), one.all_of(1)) == (0.5, 0.5)
    assert one.any_of(2) == pytest.approx(5 / 6)
    assert one.all_of(2) == pytest.approx(1 / 6)
    assert (one.any_of(3), one.all_of(3), one.all_of(4)) == (1.0, 0.0, 0.0)


def test_a_trial_that_was_not_played_is_no_trial() -> None:
    trials = trials_of([{"a": True, "b": True}, {"a": False}])
    assert trials == {"a": Trials(2, 1), "b": Trials(1, 1)}
    first, second = over_trials(trials, 3)
    assert (first.k, first.tests, first.short, first.pass_at_k) == (1, 2, 0, 0.75)
    assert (second.k, second.tests, second.short, second.pass_hat_k) == (2, 1, 1, 0.0)
