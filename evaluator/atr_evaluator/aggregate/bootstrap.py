"""Confidence intervals by drawing whole personas (evaluation.md section 7.4).

Every interval starts the same generator anew, so equal inputs give equal intervals, and the draws for one
number of personas are made once.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from functools import cache, lru_cache, reduce
from math import floor, nan
from operator import add
from random import Random

RESAMPLES, ALPHA = 1000, 0.05
_SEED = 42
ENOUGH_PERSONAS = 10
"""From so many personas on, whole personas are drawn. With fewer a bootstrap over them is far too sure of
itself (docs/scores.md has how far), and tests are what is drawn."""

Interval = tuple[float, float]
NO_INTERVAL: Interval = (nan, nan)


@cache
def draws(clusters: int, resamples: int = RESAMPLES) -> tuple[tuple[int, ...], ...]:
    """Which clusters each resample draws, with replacement: as `random.Random(42).randrange(clusters)` gives
    them in CPython, spelled out so that no version of it matters."""
    bits, random = clusters.bit_length(), Random(_SEED)

    def one() -> int:
        drawn = random.getrandbits(bits)
        while drawn >= clusters:
            drawn = random.getrandbits(bits)
        return drawn

    return tuple(tuple(one() for _ in range(clusters)) for _ in range(resamples))


@cache
def _times_drawn(clusters: int, resamples: int) -> tuple[int, ...]:
    """Of each cluster a number whose digits, of 64 bits, say how often each resample draws it. Multiplied by
    the values of the clusters and added up, they give the sums of all resamples at once."""
    times = [array("Q", bytes(8 * resamples)) for _ in range(clusters)]
    for number, drawn in enumerate(draws(clusters, resamples)):
        for cluster in drawn:
            times[cluster][number] += 1
    return tuple(int.from_bytes(one.tobytes(), sys.byteorder) for one in times)


def mean(values: Sequence[float]) -> float:
    """The plain left-to-right mean: `sum` compensates in newer interpreters, which moves the last digit."""
    return reduce(add, values, 0.0) / len(values)


def mean_interval(values: Sequence[float], resamples: int = RESAMPLES) -> Interval:
    """The interval of the mean over clusters, each of which weighs the same. NaN, NaN of no values."""
    if not values:
        return NO_INTERVAL
    return percentiles([mean([values[i] for i in drawn]) for drawn in draws(len(values), resamples)])


def share_interval(clusters: Sequence[tuple[int, int]], resamples: int = RESAMPLES) -> Interval:
    """The interval of a sum of parts over a sum of wholes; `clusters` holds both counts of each. Draws
    without any whole are left out; NaN, NaN where nothing is left."""
    if not clusters:
        return NO_INTERVAL
    parts, wholes = (_drawn_sums(tuple(values), resamples) for values in zip(*clusters, strict=True))
    found = [part / whole for part, whole in zip(parts, wholes, strict=True) if whole]
    return percentiles(found) if found else NO_INTERVAL


@lru_cache(maxsize=64)
def _drawn_sums(values: tuple[int, ...], resamples: int) -> Sequence[int]:
    """Of each resample. Kept, since the shares of a group mostly have the same wholes."""
    times = _times_drawn(len(values), resamples)
    sums = sum(value * drawn for value, drawn in zip(values, times, strict=True))
    return memoryview(sums.to_bytes(8 * resamples, sys.byteorder)).cast("Q").tolist()


def percentiles(values: Sequence[float]) -> Interval:
    """The middle 95 in 100 of some resampled figures."""
    ordered = sorted(values)
    count = len(ordered)
    return ordered[floor(count * ALPHA / 2)], ordered[max(0, floor(count * (1 - ALPHA / 2)) - 1)]


def wilson_interval(part: int, whole: int) -> Interval:
    """Wilson's score interval, for a share whose tests count as independent. NaN, NaN of no tests."""
    if not whole:
        return NO_INTERVAL
    z = 1.959963984540054
    share, square = part / whole, z * z
    middle = (share + square / (2 * whole)) / (1 + square / whole)
    half = z / (1 + square / whole) * (share * (1 - share) / whole + square / (4 * whole * whole)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)
