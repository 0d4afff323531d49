"""Fits the projection: the directions in which texts that ask for one rule scatter are shrunk, and those in
which rules differ are kept. In closed form (linear discriminant analysis), so the same on each run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atr_user_sim.offline.minilm import TextEncoder
from atr_user_sim.offline.projection import Projection
from atr_user_training.examples import Pool

_SHRINK = 0.5
_DIMENSIONS = 160


def fit_projection(pools: Sequence[Pool], encoder: TextEncoder) -> Projection:
    """From statements and lines alone: a question that it has seen would look nearer than one it has not."""
    classes = [
        encoder.vectors([rule.statement, *(m.text for m in rule.asked)]).astype(np.float64)
        for pool in pools
        for rule in pool.known.rules
    ]
    centre = np.concatenate(classes).mean(axis=0)
    means = np.array([vectors.mean(axis=0) for vectors in classes])
    within = np.zeros((len(centre), len(centre)))
    for vectors, mean in zip(classes, means, strict=True):
        within += (vectors - mean).T @ (vectors - mean)
    within /= sum(len(vectors) - 1 for vectors in classes)
    within = (1 - _SHRINK) * within + _SHRINK * np.trace(within) / len(centre) * np.eye(len(centre))
    whitening = _whitening(within)
    values, directions = np.linalg.eigh(np.cov((means @ whitening).T))
    kept = directions[:, np.argsort(values)[::-1][:_DIMENSIONS]]
    return Projection(centre, whitening @ kept)


def _whitening(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    values, directions = np.linalg.eigh(covariance)
    return directions @ np.diag(values**-0.5) @ directions.T
