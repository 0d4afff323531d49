"""Boosted decision trees as plain data: read from JSON, evaluated without any library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tree:
    """Node `n` sends a value of `feature[n]` up to `threshold[n]` to `left[n]`, else to `right[n]`; a
    negative number is a leaf, -1 the first."""

    feature: Sequence[int]
    threshold: Sequence[float]
    left: Sequence[int]
    right: Sequence[int]
    leaf: Sequence[float]

    def value(self, row: Sequence[float]) -> float:
        node = 0 if self.feature else -1
        while node >= 0:
            goes_left = row[self.feature[node]] <= self.threshold[node]
            node = self.left[node] if goes_left else self.right[node]
        return self.leaf[-node - 1]


@dataclass(frozen=True, slots=True)
class Forest:
    """`features` names the columns in the order in which a row holds them."""

    features: Sequence[str]
    trees: Sequence[Tree]

    def share(self, row: Sequence[float]) -> float:
        """A probability."""
        return 1 / (1 + math.exp(-sum(tree.value(row) for tree in self.trees)))

    def to_json(self) -> dict[str, Any]:
        trees = [[t.feature, t.threshold, t.left, t.right, t.leaf] for t in self.trees]
        return {"features": list(self.features), "trees": trees}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Forest:
        return cls(raw["features"], [Tree(*fields) for fields in raw["trees"]])
