"""The spaces in which texts are compared: an encoder tuned without some groups of writers, and a projection
fitted without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from atr_user_sim.offline.minilm import TUNING
from atr_user_sim.offline.projection import Projection
from atr_user_sim.offline.text_vectors import TextVectors
from atr_user_training.examples import OWN, Pool
from atr_user_training.fit_projection import fit_projection
from atr_user_training.tunings import folder

_Without = frozenset[str]


@dataclass(frozen=True)
class Space:
    encoder: TextVectors
    projection: Projection


class Spaces:
    """Each is made when it is asked for. `kept` is a folder that keeps vectors."""

    def __init__(self, pools: Sequence[Pool], kept: Path | None) -> None:
        self._pools, self._kept = pools, kept
        self._made: dict[_Without, Space] = {}

    def without(self, *groups: str) -> Space:
        """The earlier questions are in none."""
        left_out = frozenset(groups) - {"", OWN}
        if left_out not in self._made:
            encoder = TextVectors(folder(left_out) / TUNING, self._file(left_out))
            seen = [pool for pool in self._pools if pool.group not in left_out]
            self._made[left_out] = Space(encoder, fit_projection(seen, encoder))
        return self._made[left_out]

    def save(self) -> None:
        for left_out, space in self._made.items():
            if file := self._file(left_out):
                space.encoder.save(file)

    def _file(self, left_out: _Without) -> Path | None:
        return self._kept / f"{'_'.join(sorted(left_out)) or 'none'}.npz" if self._kept else None
