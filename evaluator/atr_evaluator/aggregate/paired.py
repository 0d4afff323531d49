"""Whether two runs over the same tests differ: a paired bootstrap, and Holm's correction for many pairs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atr_evaluator.aggregate.bootstrap import ENOUGH_PERSONAS, Interval, draws, percentiles
from atr_evaluator.validity import LEVEL

_RESAMPLES = 10_000

Test = tuple[str, Hashable]
"""A persona and what names one of its tests."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """`difference` is that of the shares passed, second minus first, over `tests` tests that both have;
    `p_value` is two-sided. `unit` says what was drawn."""

    tests: int
    personas: int
    first: float
    second: float
    difference: float
    interval: Interval
    p_value: float
    unit: Literal["persona", "test"]


def paired_difference(
    first: Mapping[Test, float], second: Mapping[Test, float], *, resamples: int = _RESAMPLES
) -> PairedDifference | None:
    """Compares the shares passed (0 or 1, or the mean over trials) by test. None without a shared test."""
    shared = sorted(first.keys() & second.keys(), key=repr)
    if not shared:
        return None
    personas = sorted({persona for persona, _ in shared})
    by_persona = len(personas) >= ENOUGH_PERSONAS
    clusters: dict[Hashable, tuple[float, int]] = {}
    for test in shared:
        key: Hashable = test[0] if by_persona else test
        part, whole = clusters.get(key, (0.0, 0))
        clusters[key] = part + second[test] - first[test], whole + 1
    parts, wholes = zip(*clusters.values(), strict=True)
    resampled = [
        sum(map(parts.__getitem__, drawn)) / sum(map(wholes.__getitem__, drawn))
        for drawn in draws(len(parts), resamples)
    ]
    tests = len(shared)
    return PairedDifference(
        tests=tests,
        personas=len(personas),
        first=sum(first[test] for test in shared) / tests,
        second=sum(second[test] for test in shared) / tests,
        difference=sum(second[test] - first[test] for test in shared) / tests,
        interval=percentiles(resampled),
        p_value=_two_sided(resampled),
        unit="persona" if by_persona else "test",
    )


def _two_sided(resampled: Sequence[float]) -> float:
    """Twice the smaller tail beyond no difference; the sample itself counts as one draw."""
    count = len(resampled) + 1
    below = 1 + sum(value <= 0 for value in resampled)
    above = 1 + sum(value >= 0 for value in resampled)
    return min(1.0, 2 * min(below, above) / count)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values as they are when one holds so many comparisons against `LEVEL` at once, in their order
    (S. Holm, A simple sequentially rejective multiple test procedure, 1979)."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    for rank, index in enumerate(order):
        worst = max(worst, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = worst
    return adjusted


def is_significant(adjusted: float) -> bool:
    return adjusted < LEVEL
