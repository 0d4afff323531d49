"""What heads say of labelled questions, the thresholds that follow, and how good that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atr_user_sim.offline.head import Head
from atr_user_sim.offline.trees import Forest, Tree
from atr_user_training.feature_table import FeatureTable

_Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Verdicts:
    """Per question the most probable rule and how probable it is; `golds` is -1 for what nothing answers."""

    golds: NDArray[np.intp]
    best: NDArray[np.intp]
    shares: NDArray[np.float64]

    def where(self, chosen: _Flags) -> Verdicts:
        return Verdicts(self.golds[chosen], self.best[chosen], self.shares[chosen])


def judge(head: Head, table: FeatureTable) -> Verdicts:
    leaders = table.leaders(head.first_by)
    rows = np.take_along_axis(table.values, leaders[:, :, None], axis=1)
    shares = _shares(head.forest, rows[:, :, [table.names.index(name) for name in head.forest.features]])
    shares[np.isnan(rows).all(axis=2)] = -1.0
    first = shares.argmax(axis=1)[:, None]
    best = np.take_along_axis(leaders, first, axis=1)[:, 0]
    return Verdicts(table.golds, best, np.take_along_axis(shares, first, axis=1)[:, 0])


def joined(parts: Sequence[Verdicts]) -> Verdicts:
    return Verdicts(
        np.concatenate([part.golds for part in parts]),
        np.concatenate([part.best for part in parts]),
        np.concatenate([part.shares for part in parts]),
    )


def threshold(found: Verdicts, most_false: float) -> float:
    """The least that lets less than the allowed share of unanswerable questions pass."""
    false = np.sort(found.shares[found.golds < 0])
    return round(float(false[-max(1, int(most_false * len(false)))]) + 0.00002, 5)


def figures(found: Verdicts, needed: NDArray[np.float64]) -> dict[str, float]:
    """`needed` is the threshold of each question."""
    said = np.where(found.shares >= needed, found.best, -1)
    right, answerable = said == found.golds, found.golds >= 0
    rates = {
        "accuracy": right.mean(),
        "always_none": (~answerable).mean(),
        "recall": right[answerable].mean(),
        "false_positives": (said[~answerable] >= 0).mean(),
    }
    return {"questions": len(right)} | {name: round(float(rate), 4) for name, rate in rates.items()}


def _shares(forest: Forest, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """As `Forest.share`, of many rows at once."""
    flat = rows.reshape(-1, rows.shape[-1]).astype(np.float64)
    total = np.zeros(len(flat))
    for tree in forest.trees:
        total += _values(tree, flat)
    return (1 / (1 + np.exp(-total))).reshape(rows.shape[:-1])


def _values(tree: Tree, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    leaves = np.array(tree.leaf)
    if not tree.feature:
        return np.full(len(rows), leaves[0])
    feature, threshold, left, right = map(np.array, (tree.feature, tree.threshold, tree.left, tree.right))
    node = np.zeros(len(rows), dtype=np.intp)
    while (inner := np.flatnonzero(node >= 0)).size:
        here = node[inner]
        goes_left = rows[inner, feature[here]] <= threshold[here]
        node[inner] = np.where(goes_left, left[here], right[here])
    return leaves[-node - 1]
