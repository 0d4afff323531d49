"""Logistic regression on hashed features, by stochastic gradient descent; small enough to need no library."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import exp, sqrt
from random import Random

Example = tuple[Sequence[int], bool]


class Logistic:
    """Weights over feature numbers. The step shrinks for features that occur often (AdaGrad)."""

    def __init__(self, *, rate: float = 0.3, decay: float = 1e-4, epochs: int = 3, seed: int = 0) -> None:
        self._rate, self._decay, self._epochs, self._seed = rate, decay, epochs, seed
        self._weights: dict[int, float] = defaultdict(float)
        self._sums: dict[int, float] = defaultdict(float)
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
        weights = self._weights
        score = self._bias + sum(weights[f] for f in features if f in weights)
        return 1 / (1 + exp(-max(-30.0, min(30.0, score))))

    def _learn(self, features: Sequence[int], yes: bool) -> None:
        error = self.chance(features) - yes
        self._bias -= 0.05 * error
        weights, sums, decay, rate = self._weights, self._sums, self._decay, self._rate
        for feature in features:
            weight = weights[feature]
            slope = error + decay * weight
            total = sums[feature] + slope * slope
            sums[feature] = total
            weights[feature] = weight - rate * slope / sqrt(1e-6 + total)
