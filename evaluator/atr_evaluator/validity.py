"""Whether a score is above what can be had without knowing a rule: a paired test on the same sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import TypeVar

KeyT = TypeVar("KeyT")

LEVEL = 0.05
"""Largest p-value that counts as above."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A model and a rule-blind one on the same tests. `p_value` is that of the one-sided exact McNemar test:
    the chance of at least so many tests won among those that only one of the two passed, if both were equal.
    """

    tests: int
    passed: int
    blind_passed: int
    p_value: float

    @property
    def above(self) -> bool:
        return self.p_value < LEVEL


def compare_outcomes(model: Mapping[KeyT, bool], blind: Mapping[KeyT, bool]) -> Comparison | None:
    """Compares passes by test, over the model's tests. None when the rule-blind model lacks one of them."""
    if not model or not model.keys() <= blind.keys():
        return None
    won = sum(passed and not blind[test] for test, passed in model.items())
    lost = sum(blind[test] and not passed for test, passed in model.items())
    return Comparison(
        tests=len(model),
        passed=sum(model.values()),
        blind_passed=sum(blind[test] for test in model),
        p_value=exact_sign_test(won, lost),
    )


def exact_sign_test(won: int, lost: int) -> float:
    """The chance of `won` or more heads in `won + lost` throws of a fair coin."""
    throws = won + lost
    return sum(comb(throws, heads) for heads in range(won, throws + 1)) / 2**throws
