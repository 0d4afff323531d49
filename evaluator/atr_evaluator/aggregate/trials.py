"""What repeated trials of the same tests tell: how often at least one of k passes, and how often all do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import TypeVar

KeyT = TypeVar("KeyT")


@dataclass(frozen=True, slots=True)
class Trials:
    """Of one test: how many trials gave a result, and in how many it passed. What the surroundings broke is
    no trial."""

    played: int
    passed: int

    def any_of(self, k: int) -> float:
        """pass@k: the chance that of k of the trials, drawn without replacement, at least one passed."""
        return 1 - comb(self.played - self.passed, k) / comb(self.played, k)

    def all_of(self, k: int) -> float:
        """pass^k: the chance that all k passed."""
        return comb(self.passed, k) / comb(self.played, k)


@dataclass(frozen=True, slots=True)
class OverTrials:
    """Means over `tests` tests that have k trials or more; `short` tests have fewer and are left out."""

    k: int
    tests: int
    short: int
    pass_at_k: float
    pass_hat_k: float


def over_trials(trials: Mapping[KeyT, Trials], most: int) -> list[OverTrials]:
    """For k from 1 to `most`; a k that no test reaches is left out."""
    found: list[OverTrials] = []
    for k in range(1, most + 1):
        long_enough = [one for one in trials.values() if one.played >= k]
        if long_enough:
            count = len(long_enough)
            found.append(
                OverTrials(
                    k,
                    count,
                    len(trials) - count,
                    pass_at_k=sum(one.any_of(k) for one in long_enough) / count,
                    pass_hat_k=sum(one.all_of(k) for one in long_enough) / count,
                )
            )
    return found


def trials_of(runs: Sequence[Mapping[KeyT, bool]]) -> dict[KeyT, Trials]:
    """From the results of each trial, by test. A test that a trial does not hold was not played in it."""
    counts: dict[KeyT, Trials] = {}
    for run in runs:
        for test, passed in run.items():
            before = counts.get(test, Trials(0, 0))
            counts[test] = Trials(before.played + 1, before.passed + passed)
    return counts
