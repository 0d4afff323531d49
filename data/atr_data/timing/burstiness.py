"""How bursty a series of moments is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from statistics import fmean, pstdev, stdev


def burstiness(moments: Sequence[float]) -> float | None:
    """`(s - m) / (s + m)` over the gaps between sorted moments in seconds; s with n-1. None under 3."""
    gaps = _gaps(moments)
    if len(gaps) < 2:
        return None
    mean, spread = fmean(gaps), stdev(gaps)
    return (spread - mean) / (spread + mean) if spread + mean else None


def finite_burstiness(moments: Sequence[float]) -> float | None:
    """The form that does not depend on how many moments there are (arXiv 1604.01125)."""
    gaps = _gaps(moments)
    if len(gaps) < 2 or not fmean(gaps):
        return None
    n, r = len(moments), pstdev(gaps) / fmean(gaps)
    low, high = sqrt(n - 1), sqrt(n + 1)
    return (high * r - low) / ((high - 2) * r + low)


def _gaps(moments: Sequence[float]) -> list[float]:
    return [after - before for before, after in pairwise(moments)]
