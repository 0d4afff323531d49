"""How near questions lie, in the encoder's space, to each rule's statement, lines and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atr_user_sim.offline.knowledge import KnownPool
from atr_user_sim.offline.minilm import TextEncoder
from atr_user_sim.offline.projection import Projection, Vectors

Table = NDArray[np.float32]
"""A row per question, a column per rule."""

_NO_LIST = -1.0
"""For a word list that is empty: further off than any."""

_LISTS = ("decision", "situation", "beside")
_COMPARED = ("statement", "best", "hands", "mean", "centre", *_LISTS)


class PoolVectors:
    """All vectors of a pool, in the encoder's space and projected."""

    def __init__(self, pool: KnownPool, encoder: TextEncoder, projection: Projection) -> None:
        rules = pool.rules
        hands = range(min((len(rule.hands) for rule in rules), default=0))
        statements = encoder.vectors([rule.statement for rule in rules])
        lines = [_lines([rule.hands[hand].asked for rule in rules], encoder) for hand in hands]
        others = [_lines([rule.hands[hand].not_asked for rule in rules], encoder) for hand in hands]
        self._lists = {
            name: (encoder.vectors(texts), np.array([bool(text) for text in texts]))
            for name in (_LISTS if pool.has_lines else ())
            for texts in ([rule.lists[name] for rule in rules],)
        }
        self._raw = _Space(statements, lines, others)
        self._projection = projection
        self._projected = _Space(
            projection(statements),
            [hand.projected(projection) for hand in lines],
            [hand.projected(projection) for hand in others],
        )

    def features(self, asked: Vectors) -> Mapping[str, Table]:
        """`asked` has a row per question."""
        return self._plain_features(asked) | _named("like", self._projected.features(self._projection(asked)))

    def _plain_features(self, asked: Vectors) -> dict[str, Table]:
        found = self._raw.features(asked)
        for name, (vectors, there) in self._lists.items():
            found[name] = np.where(there, asked @ vectors.T, np.float32(_NO_LIST))
        if self._lists:
            found["decision_over_beside"] = found["decision"] - found["beside"]
        return _named("near", found)


@dataclass(frozen=True)
class _Lines:
    """The lines of one hand for all rules: those of a rule lie together."""

    vectors: Vectors
    counts: Sequence[int]

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        return np.cumsum([0, *self.counts[:-1]])

    def most(self, near: Table) -> Table:
        """Per rule, of a table that has a column per line."""
        return np.maximum.reduceat(near, self._starts, axis=1)

    def mean(self, near: Table) -> Table:
        sums: Table = np.add.reduceat(near, self._starts, axis=1)
        return sums / np.array(self.counts, dtype=np.float32)

    def sums(self) -> Vectors:
        """Of the vectors of each rule."""
        return np.add.reduceat(self.vectors, self._starts, axis=0)

    def projected(self, projection: Projection) -> _Lines:
        return _Lines(projection(self.vectors), self.counts)


def _lines(texts: Sequence[Sequence[str]], encoder: TextEncoder) -> _Lines:
    return _Lines(encoder.vectors([line for lines in texts for line in lines]), list(map(len, texts)))


class _Space:
    """A pool in one space: its statements, and per hand the lines that each rule answers and those not."""

    def __init__(self, statements: Vectors, asked: Sequence[_Lines], not_asked: Sequence[_Lines]) -> None:
        self._statements, self._asked, self._not_asked = statements, asked, not_asked
        centres = statements + sum(lines.sums() for lines in asked)
        self._centres: Vectors = centres / np.linalg.norm(centres, axis=1, keepdims=True)

    def features(self, asked: Vectors) -> dict[str, Table]:
        found: dict[str, Table] = {"statement": asked @ self._statements.T}
        if not self._asked:
            return found
        near = [asked @ lines.vectors.T for lines in self._asked]
        off = [asked @ lines.vectors.T for lines in self._not_asked]
        best = np.stack([lines.most(table) for lines, table in zip(self._asked, near, strict=True)])
        far = np.stack([lines.most(table) for lines, table in zip(self._not_asked, off, strict=True)])
        found |= {"best": best.max(axis=0), "hands": best.mean(axis=0), "least": best.min(axis=0)}
        found |= {"mean": _mean(self._asked, near), "centre": asked @ self._centres.T}
        found |= {"miss": far.max(axis=0), "miss_hands": far.mean(axis=0)}
        found |= {"miss_mean": _mean(self._not_asked, off)}
        found |= {
            "best_over_miss": found["best"] - found["miss"],
            "hands_over_miss": found["hands"] - found["miss_hands"],
            "mean_over_miss": found["mean"] - found["miss_mean"],
            "best_over_misses": found["best"] - found["miss"].max(axis=1, keepdims=True),
            "centre_over_misses": found["centre"] - found["miss_hands"].max(axis=1, keepdims=True),
        }
        return found | self._votes(near, off)

    def _votes(self, near: Sequence[Table], off: Sequence[Table]) -> dict[str, Table]:
        """The share of each rule when all lines of the pool vote, the nearer the more."""
        unit = np.maximum(np.concatenate(near, axis=1).std(axis=1, keepdims=True), 1e-6)
        nearest = np.concatenate([*near, *off], axis=1).max(axis=1, keepdims=True)
        ayes = _mean(self._asked, [np.exp(2 * (table - nearest) / unit) for table in near])
        noes = _mean(self._not_asked, [np.exp(2 * (table - nearest) / unit) for table in off])
        against = noes.sum(axis=1, keepdims=True)
        total = ayes.sum(axis=1, keepdims=True) + against
        none = np.broadcast_to(against / total, ayes.shape)
        return {"votes": ayes / total, "votes_miss": noes / total, "votes_none": none}


def _mean(hands: Sequence[_Lines], tables: Sequence[Table]) -> Table:
    return np.mean([lines.mean(table) for lines, table in zip(hands, tables, strict=True)], axis=0)


def _named(space: str, found: Mapping[str, Table]) -> dict[str, Table]:
    """With the distance to the best of the other rules beside the compared ones."""
    margins = {f"over_{space}_{name}": _margins(found[name]) for name in _COMPARED if name in found}
    return {f"{space}_{name}": table for name, table in found.items()} | margins


def _margins(table: Table) -> Table:
    if table.shape[1] < 2:
        return table
    ordered = np.sort(table, axis=1)
    best, second = ordered[:, -1:], ordered[:, -2:-1]
    return np.where(table == best, best - second, table - best)
