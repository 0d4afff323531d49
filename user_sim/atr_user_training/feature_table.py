"""Features of many labelled questions at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atr_user_sim.offline.classifier import described
from atr_user_sim.offline.head import LEADERS
from atr_user_sim.offline.meaning_features import PoolVectors, Table
from atr_user_sim.offline.minilm import TextEncoder
from atr_user_sim.offline.projection import Projection
from atr_user_training.examples import Example, Pool


@dataclass(frozen=True)
class FeatureTable:
    """`values` has a row per question, then a column per rule, then the features of `names`; NaN where the
    pool has no such rule."""

    examples: Sequence[Example]
    names: Sequence[str]
    values: NDArray[np.float32]

    def where(self, chosen: NDArray[np.bool_]) -> FeatureTable:
        kept = np.flatnonzero(chosen)
        return FeatureTable(
            [self.examples[number] for number in kept.tolist()], self.names, self.values[kept]
        )

    def beside(self, names: Sequence[str], values: NDArray[np.float32]) -> FeatureTable:
        both = np.concatenate([self.values, values], axis=2)
        return FeatureTable(self.examples, [*self.names, *names], both)

    @cached_property
    def golds(self) -> NDArray[np.intp]:
        """-1 for what nothing answers."""
        return np.array([-1 if e.gold is None else e.gold for e in self.examples])

    def column(self, name: str) -> NDArray[np.float32]:
        return self.values[:, :, self.names.index(name)]

    def leaders(self, first_by: str) -> NDArray[np.intp]:
        """Per question the rules that lead in a column, in the order of the pool; those past the end of a
        short pool have NaN for values."""
        values = np.nan_to_num(self.column(first_by), nan=-np.inf)
        return np.sort(np.argsort(-values, axis=1, kind="stable")[:, :LEADERS], axis=1)


def words_table(examples: Sequence[Example]) -> FeatureTable:
    columns = [described(example.question, example.pool.known) for example in examples]
    names = sorted(columns[0])
    values = _empty(examples, names)
    for number, found in enumerate(columns):
        for place, name in enumerate(names):
            values[number, : len(found[name]), place] = found[name]
    return FeatureTable(examples, names, values)


class MeaningTables:
    """The vectors of the pools are found once, and projected as often as wished."""

    def __init__(self, examples: Sequence[Example], encoder: TextEncoder, any_projection: Projection) -> None:
        self._examples = examples
        numbers: dict[int, list[int]] = {}
        pools: dict[int, Pool] = {}
        for number, example in enumerate(examples):
            numbers.setdefault(id(example.pool), []).append(number)
            pools[id(example.pool)] = example.pool
        self._pools = [
            (
                numbers[key],
                encoder.vectors([examples[number].question for number in numbers[key]]),
                PoolVectors(pool.known, encoder, any_projection),
            )
            for key, pool in pools.items()
        ]

    def plain(self) -> tuple[Sequence[str], NDArray[np.float32]]:
        return self._gathered([vectors.plain_features(asked) for _, asked, vectors in self._pools])

    def projected(self, projection: Projection) -> tuple[Sequence[str], NDArray[np.float32]]:
        found: list[Mapping[str, Table]] = []
        for _, asked, vectors in self._pools:
            vectors.project(projection)
            found.append(vectors.projected_features(asked))
        return self._gathered(found)

    def _gathered(self, found: Sequence[Mapping[str, Table]]) -> tuple[Sequence[str], NDArray[np.float32]]:
        names = sorted(found[0])
        values = _empty(self._examples, names)
        for (numbers, _, _), tables in zip(self._pools, found, strict=True):
            for place, name in enumerate(names):
                values[numbers, : tables[name].shape[1], place] = tables[name]
        return names, values


def _empty(examples: Sequence[Example], names: Sequence[str]) -> NDArray[np.float32]:
    most = max(len(example.pool.rules) for example in examples)
    return np.full((len(examples), most, len(names)), np.nan, dtype=np.float32)
