"""Gradient boosting of one-split trees on a few numeric features."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

_BINS = 16


@dataclass(frozen=True, slots=True)
class _Stump:
    feature: int
    above_bin: int
    low: float
    high: float


class Boosting:
    """Logistic loss, Newton steps, quantile bins."""

    def __init__(self, *, rounds: int = 25, rate: float = 0.3, ridge: float = 1.0) -> None:
        self._rounds, self._rate, self._ridge = rounds, rate, ridge
        self._edges: list[list[float]] = []
        self._stumps: list[_Stump] = []
        self._base = 0.0

    def fit(self, rows: Sequence[Sequence[float]], labels: Sequence[bool]) -> None:
        """Rows are of equal length; labels of one kind only give a constant."""
        share = min(0.999, max(0.001, sum(labels) / max(1, len(labels))))
        self._base, self._stumps = log(share / (1 - share)), []
        columns = list(zip(*rows, strict=True))
        self._edges = [_edges(column) for column in columns]
        binned = [
            [bisect_right(edges, value) for value in column]
            for edges, column in zip(self._edges, columns, strict=True)
        ]
        scores = [self._base] * len(rows)
        for _ in range(self._rounds):
            chances = [1 / (1 + exp(-score)) for score in scores]
            slopes = [yes - chance for yes, chance in zip(labels, chances, strict=True)]
            curves = [chance * (1 - chance) for chance in chances]
            stump = self._best(binned, slopes, curves)
            self._stumps.append(stump)
            column = binned[stump.feature]
            for place, bin_number in enumerate(column):
                scores[place] += stump.high if bin_number > stump.above_bin else stump.low

    def chance(self, row: Sequence[float]) -> float:
        """The chance of a yes."""
        score = self._base
        for stump in self._stumps:
            above = bisect_right(self._edges[stump.feature], row[stump.feature]) > stump.above_bin
            score += stump.high if above else stump.low
        return 1 / (1 + exp(-score))

    def _best(
        self, binned: Sequence[Sequence[int]], slopes: Sequence[float], curves: Sequence[float]
    ) -> _Stump:
        best, best_gain = _Stump(0, _BINS, 0.0, 0.0), -1.0
        all_slopes, all_curves = sum(slopes), sum(curves)
        for feature, column in enumerate(binned):
            slope_sums, curve_sums = [0.0] * (_BINS + 1), [0.0] * (_BINS + 1)
            for bin_number, slope, curve in zip(column, slopes, curves, strict=True):
                slope_sums[bin_number] += slope
                curve_sums[bin_number] += curve
            low_slope = low_curve = 0.0
            for split in range(_BINS):
                low_slope += slope_sums[split]
                low_curve += curve_sums[split]
                high_slope, high_curve = all_slopes - low_slope, all_curves - low_curve
                low, high = low_slope / (low_curve + self._ridge), high_slope / (high_curve + self._ridge)
                gain = low * low_slope + high * high_slope
                if gain > best_gain:
                    best_gain = gain
                    best = _Stump(feature, split, self._rate * low, self._rate * high)
        return best


def _edges(column: Sequence[float]) -> list[float]:
    ordered = sorted(column)
    return sorted({ordered[len(ordered) * part // _BINS] for part in range(1, _BINS)})
