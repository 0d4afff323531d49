"""Gaps drawn without a calendar: what burstiness a plain renewal process has.

For statistics only: no stream is made of it, because nobody works at night.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from math import exp, log
from random import Random
from typing import Literal

from atr_data.timing.burstiness import burstiness

GapLaw = Literal["power", "lognormal", "weibull"]
SHORTEST, LONGEST = 5.0, 64 * 3600.0


def power_gap(random: Random, exponent: float = 1.5) -> float:
    """Seconds between SHORTEST and LONGEST with density proportional to gap ** -exponent; above 1."""
    power = 1 - exponent
    low, high = SHORTEST**power, LONGEST**power
    return (low + random.random() * (high - low)) ** (1 / power)


def lognormal_gap(random: Random, sigma: float = 2.4) -> float:
    """Median 38 s, not truncated."""
    return exp(random.gauss(log(38), sigma))


def weibull_gap(random: Random, shape: float = 0.24) -> float:
    """Scale 38 s, not truncated."""
    return random.weibullvariate(38, shape)


_LAWS: Mapping[GapLaw, Callable[[Random], float]] = {
    "power": power_gap,
    "lognormal": lognormal_gap,
    "weibull": weibull_gap,
}


def renewal_moments(law: GapLaw, gaps: int, random: Random) -> list[float]:
    """Moments in seconds, the first at 0, with so many independent gaps between them."""
    draw = _LAWS[law]
    return list(accumulate((draw(random) for _ in range(gaps)), initial=0.0))


def renewal_burstiness(law: GapLaw, gaps: int, runs: int, seed: int = 0) -> list[float]:
    """B of so many runs. At least two gaps."""
    if gaps < 2:
        raise ValueError(f"gaps is {gaps}, must be at least 2")
    found: list[float] = []
    for run in range(runs):
        value = burstiness(renewal_moments(law, gaps, Random(f"renewal|{law}|{seed}|{run}")))
        assert value is not None, "there are two gaps"
        found.append(value)
    return found
