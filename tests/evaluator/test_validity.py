"""The paired test against a rule-blind score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_evaluator import compare_outcomes, exact_sign_test


@pytest.mark.parametrize(
    ("won", "lost", "p"), [(0, 0, 1.0), (5, 0, 1 / 32), (0, 5, 1.0), (4, 1, 6 / 32), (1, 1, 0.75)]
)
def test_the_sign_test_is_exact(won: int, lost: int, p: float) -> None:
    assert exact_sign_test(won, lost) == p


@given(st.integers(0, 60), st.integers(1, 60))
def test_winning_or_not_winning_is_certain(won: int, lost: int) -> None:
    at_most_so_many = exact_sign_test(lost, won)
    more = exact_sign_test(won + 1, lost - 1)
    assert at_most_so_many + more == pytest.approx(1)


def test_only_tests_that_one_of_the_two_passed_decide() -> None:
    model = {"a": True, "b": True, "c": True, "d": True, "e": True, "f": True, "g": False}
    blind = dict.fromkeys("abcdeg", False) | {"f": True, "never compared": True}
    found = compare_outcomes(model, blind)
    assert found is not None
    assert (found.tests, found.passed, found.blind_passed) == (7, 6, 1)
    assert found.p_value == 1 / 32
    assert found.above
    equal = compare_outcomes(blind, blind)
    assert equal is not None and not equal.above


def test_there_is_no_comparison_without_the_same_tests() -> None:
    assert compare_outcomes({"a": True, "b": True}, {"a": False}) is None
    assert compare_outcomes({}, {"a": False}) is None
