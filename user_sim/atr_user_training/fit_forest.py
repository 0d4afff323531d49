"""Fits boosted trees with LightGBM, and writes them down as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atr_user_sim.offline.trees import Forest, Tree

_Numbers = NDArray[Any]

SEEDS = (1, 2)
"""A forest is the mean of as many."""

_PARAMETERS: Mapping[str, Any] = {
    "objective": "binary",
    "num_leaves": 15,
    "min_data_in_leaf": 20,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}


def fit_forest(
    features: Sequence[str], rows: _Numbers, labels: _Numbers, weights: _Numbers, rounds: int, rate: float
) -> Forest:
    lightgbm: Any = import_module("lightgbm")
    truth = labels.astype(np.int8)
    data = lightgbm.Dataset(rows, truth, weight=weights)
    trees: list[Tree] = []
    for seed in SEEDS:
        model: Any = lightgbm.train({**_PARAMETERS, "learning_rate": rate, "seed": seed}, data, rounds)
        trees += [_tree(tree["tree_structure"]) for tree in model.dump_model()["tree_info"]]
    return Forest(list(features), trees)


def _tree(root: Mapping[str, Any]) -> Tree:
    tree = Tree([], [], [], [], [])
    _add(tree, root)
    return tree


def _add(tree: Any, node: Mapping[str, Any]) -> int:
    """The number of the node, or of the leaf as a negative one."""
    if "leaf_value" in node:
        tree.leaf.append(round(node["leaf_value"] / len(SEEDS), 5))
        return -len(tree.leaf)
    number = len(tree.feature)
    tree.feature.append(node["split_feature"])
    tree.threshold.append(float(f"{node['threshold']:.5g}"))
    for side in (tree.left, tree.right):
        side.append(0)
    tree.left[number] = _add(tree, node["left_child"])
    tree.right[number] = _add(tree, node["right_child"])
    return number
