"""Which tunings of the encoder there are, and where."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations
from pathlib import Path

from atr_user_sim.calibration.folds import FOLDS
from atr_user_sim.calibration.records import statements
from atr_user_sim.offline.head import WEIGHTS

PAIRS = Path(__file__).parent / "pairs"
"""A head that has not seen a group learns from questions of the other groups by encoders that have seen
neither: of a question that its encoder was tuned on it would learn to trust the encoder too much."""


def left_out() -> Iterator[tuple[str, ...]]:
    """No group, each, and each two."""
    groups = sorted({record.writer for record in statements()})
    for number in range(3):
        yield from combinations(groups, number)


def folder(without: Collection[str]) -> Path:
    """Of the weights for the encoder that has not seen the groups."""
    if len(without) < 2:
        return FOLDS.joinpath(*without) if without else WEIGHTS
    return PAIRS / "_".join(sorted(without))
