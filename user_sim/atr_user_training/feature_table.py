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
from atr_user_training.examples import Example, Pool
from atr_user_training.spaces import Space, Spaces


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
    values = _empty(len(examples), _most(examples), len(names))
    for number, found in enumerate(columns):
        for place, name in enumerate(names):
            values[number, : len(found[name]), place] = found[name]
    return FeatureTable(examples, names, values)


class MeaningTables:
    """How near the questions are to the rules of their pools, each in a space that has seen neither."""

    def __init__(self, examples: Sequence[Example], spaces: Spaces) -> None:
        self._spaces = spaces
        self._most = _most(examples)
        self._of_pool: dict[int, list[int]] = {}
        self._pools: dict[int, Pool] = {}
        self._questions = [example.question for example in examples]
        for number, example in enumerate(examples):
            self._of_pool.setdefault(id(example.pool), []).append(number)
            self._pools[id(example.pool)] = example.pool

    def without(self, group: str) -> tuple[Sequence[str], NDArray[np.float32]]:
        """For a head that does not see one more group."""
        names: list[str] = []
        values = _empty(0, 0, 0)
        for key, pool in self._pools.items():
            tables = self._features(pool, self._of_pool[key], self._spaces.without(pool.group, group))
            if not names:
                names = sorted(tables)
                values = _empty(len(self._questions), self._most, len(names))
            for place, name in enumerate(names):
                values[self._of_pool[key], : tables[name].shape[1], place] = tables[name]
        return names, values

    def _features(self, pool: Pool, numbers: Sequence[int], space: Space) -> Mapping[str, Table]:
        asked = space.encoder.vectors([self._questions[number] for number in numbers])
        return PoolVectors(pool.known, space.encoder, space.projection).features(asked)


def _empty(questions: int, rules: int, names: int) -> NDArray[np.float32]:
    return np.full((questions, rules, names), np.nan, dtype=np.float32)


def _most(examples: Sequence[Example]) -> int:
    """Rules in the largest pool."""
    return max(len(example.pool.rules) for example in examples)
