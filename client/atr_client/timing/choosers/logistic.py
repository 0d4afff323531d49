"""Logistic regression on hashed features, by stochastic gradient descent; small enough to need no library."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from math import exp, sqrt
from random import Random

Example = tuple[Sequence[int], bool]


class Logistic:
    """Weights over feature numbers. The step shrinks for features that occur often (AdaGrad)."""

    def __init__(self, *, rate: float = 0.3, decay: float = 1e-4, epochs: int = 2, seed: int = 0) -> None:
        self._rate, self._decay, self._epochs, self._seed = rate, decay, epochs, seed
        self._weights: dict[int, float] = {}
        self._sums: dict[int, float] = {}
        self._bias = 0.0

    def fit(self, examples: Sequence[Example]) -> None:
        """Equal examples in equal order give equal weights. A second call goes on from the first."""
        random = Random(self._seed)
        order = list(range(len(examples)))
        for _ in range(self._epochs):
            random.shuffle(order)
            for place in order:
                self._learn(*examples[place])

    def chance(self, features: Sequence[int]) -> float:
        """The chance of a yes."""
        score = self._bias + sum(map(self._weights.get, features, repeat(0.0)))
        return 1 / (1 + exp(-max(-30.0, min(30.0, score))))

    def _learn(self, features: Sequence[int], yes: bool) -> None:
        error = self.chance(features) - yes
        self._bias -= 0.05 * error
        weights, sums, decay, rate = self._weights, self._sums, self._decay, self._rate
        for feature in features:
            weight = weights.get(feature, 0.0)
            slope = error + decay * weight
            total = sums.get(feature, 1e-6) + slope * slope
            sums[feature] = total
            weights[feature] = weight - rate * slope / sqrt(total)
