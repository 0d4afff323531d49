"""Fits boosted trees with LightGBM, and writes them down as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from atr_user_sim.offline.projection import Vectors
from atr_user_sim.offline.trees import Forest, Tree

SEED = 1
_PARAMETERS: Mapping[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 20,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "seed": SEED,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}


def fit_forest(
    features: Sequence[str], rows: Vectors, labels: Sequence[bool], weights: Sequence[float], rounds: int
) -> Forest:
    lightgbm: Any = import_module("lightgbm")
    data = lightgbm.Dataset(
        rows.astype(np.float32), np.array(labels, dtype=np.int8), weight=np.array(weights)
    )
    model: Any = lightgbm.train(dict(_PARAMETERS), data, rounds)
    dumped = model.dump_model()["tree_info"]
    return Forest(features, [_tree(tree["tree_structure"]) for tree in dumped])


def _tree(root: Mapping[str, Any]) -> Tree:
    tree = Tree([], [], [], [], [])
    _add(tree, root)
    return tree


def _add(tree: Any, node: Mapping[str, Any]) -> int:
    """The number of the node, or of the leaf as a negative one."""
    if "leaf_value" in node:
        tree.leaf.append(round(node["leaf_value"], 5))
        return -len(tree.leaf)
    number = len(tree.feature)
    tree.feature.append(node["split_feature"])
    tree.threshold.append(float(f"{node['threshold']:.5g}"))
    for side in (tree.left, tree.right):
        side.append(0)
    tree.left[number] = _add(tree, node["left_child"])
    tree.right[number] = _add(tree, node["right_child"])
    return number
