"""Burstiness of gaps without a calendar: the figures that the track's documents give."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from statistics import fmean, stdev

import pytest

from atr_datagen.timing.renewal import LONGEST, SHORTEST, GapLaw, renewal_burstiness, renewal_moments


@pytest.mark.parametrize(
    ("law", "gaps", "mean", "spread"),
    [
        ("power", 7221, 0.788, 0.012),
        ("power", 1800, 0.785, 0.025),
        ("power", 480, 0.765, 0.05),
        ("lognormal", 7221, 0.79, 0.09),
        ("weibull", 7221, 0.78, 0.06),
    ],
)
def test_burstiness_of_renewal_processes(law: GapLaw, gaps: int, mean: float, spread: float) -> None:
    runs = 12
    found = renewal_burstiness(law, gaps, runs)
    assert abs(fmean(found) - mean) < 3 * spread / runs**0.5 + 0.005
    assert 0 < stdev(found) < 1.6 * spread


def test_the_power_law_is_steadier_than_the_others_and_keeps_its_bounds() -> None:
    spreads = {law: stdev(renewal_burstiness(law, 1800, 12)) for law in ("power", "lognormal", "weibull")}
    assert min(spreads, key=lambda law: spreads[law]) == "power"
    gaps = [after - before for before, after in pairwise(renewal_moments("power", 500, Random(1)))]
    assert all(SHORTEST - 1e-6 <= gap <= LONGEST + 1e-6 for gap in gaps)


def test_too_few_gaps_have_no_burstiness() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        renewal_burstiness("power", 1, 1)
