"""How near a question lies, in the encoder's space, to each rule's statement, lines and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from atr_user_sim.offline.encoder import Encoder
from atr_user_sim.offline.knowledge import KnownPool
from atr_user_sim.offline.projection import Projection, Vectors
from atr_user_sim.offline.word_features import Columns, with_margins

_UNRELATED, _UNIT = 0.85, 0.05
"""Cosines of the encoder lie close together, so they are shifted and stretched."""

_NO_LIST = -2.0
"""For a word list that is empty: further off than any."""

_LISTS = ("decision", "situation", "beside")


@dataclass(frozen=True)
class _Space:
    """A pool in one space: its statements, and per hand and rule the lines that it answers and those not."""

    statements: Vectors
    asked: Sequence[Sequence[Vectors]]
    not_asked: Sequence[Sequence[Vectors]]

    @cached_property
    def centres(self) -> Vectors:
        """The mean direction of what is asked of each rule, its statement among it."""
        rules = zip(self.statements, *self.asked, strict=True)
        means = np.array([np.vstack([statement, *hands]).mean(axis=0) for statement, *hands in rules])
        return cast(Vectors, means / np.linalg.norm(means, axis=1, keepdims=True))


class PoolVectors:
    """All vectors of a pool; encoding them takes some milliseconds a text."""

    def __init__(self, pool: KnownPool, encoder: Encoder, projection: Projection) -> None:
        def encoded(texts: Sequence[str]) -> Vectors:
            return encoder.vectors(texts, "query").astype(np.float64)

        rules = pool.rules
        self.answers: Vectors = encoder.vectors([r.statement for r in rules], "passage").astype(np.float64)
        statements = encoded([rule.statement for rule in rules])
        hands = range(min((len(rule.hands) for rule in rules), default=0))
        asked = [[encoded(rule.hands[hand].asked) for rule in rules] for hand in hands]
        not_asked = [[encoded(rule.hands[hand].not_asked) for rule in rules] for hand in hands]
        self.raw = _Space(statements, asked, not_asked)
        self.projected = _Space(
            projection(statements),
            [[projection(lines) for lines in rules] for rules in asked],
            [[projection(lines) for lines in rules] for rules in not_asked],
        )
        self.lists: dict[str, list[Vectors | None]] = {
            name: [
                encoder.vectors([", ".join(terms)], "passage")[0].astype(np.float64) if terms else None
                for terms in (getattr(rule.about, name) for rule in rules)
            ]
            for name in (_LISTS if pool.has_lines else ())
        }
        self._projection = projection

    def features(self, asked: Vectors) -> Columns:
        """`asked` is the question's vector."""
        return self.plain_features(asked) | self.projected_features(asked)

    def projected_features(self, asked: Vectors) -> Columns:
        found = _near(self.projected, self._projection(asked), lambda cosines: cosines, "like")
        return with_margins(_columns(found), _COMPARED)

    def plain_features(self, asked: Vectors) -> Columns:
        found: dict[str, Vectors] = {"near_answer": _stretched(self.answers @ asked)}
        found |= _near(self.raw, asked, _stretched, "near")
        for name, vectors in self.lists.items():
            found[f"near_{name}"] = np.array(
                [_NO_LIST if v is None else (v @ asked - 0.79) / _UNIT for v in vectors]
            )
        if self.lists:
            found["decision_over_beside"] = found["near_decision"] - found["near_beside"]
        return with_margins(_columns(found), _COMPARED)


_COMPARED = (
    *("near_answer", "near_statement", "like_statement", "near_decision", "near_situation", "near_beside"),
    *(f"{space}_{name}" for space in ("near", "like") for name in ("best", "hands", "mean", "centre")),
)


def _columns(found: dict[str, Vectors]) -> Columns:
    return {name: cast(list[float], column.tolist()) for name, column in found.items()}


def _stretched(cosines: Vectors) -> Vectors:
    return (cosines - _UNRELATED) / _UNIT


def _near(
    space: _Space, asked: Vectors, scaled: Callable[[Vectors], Vectors], name: str
) -> dict[str, Vectors]:
    found = {"statement": scaled(space.statements @ asked)}
    if space.asked:
        near = [[scaled(lines @ asked) for lines in rules] for rules in space.asked]
        off = [[scaled(lines @ asked) for lines in rules] for rules in space.not_asked]
        best, far = _each(near, np.max), _each(off, np.max)
        found |= {"best": best.max(axis=0), "hands": best.mean(axis=0), "least": best.min(axis=0)}
        found |= {"mean": _each(near, np.mean).mean(axis=0), "centre": scaled(space.centres @ asked)}
        found |= {"miss": far.max(axis=0), "miss_hands": far.mean(axis=0)}
        found |= {"miss_mean": _each(off, np.mean).mean(axis=0)}
        found |= {
            "best_over_miss": found["best"] - found["miss"],
            "hands_over_miss": found["hands"] - found["miss_hands"],
            "mean_over_miss": found["mean"] - found["miss_mean"],
            "best_over_misses": found["best"] - found["miss"].max(),
            "centre_over_misses": found["centre"] - found["miss_hands"].max(),
        }
        found |= _votes(near, off)
    return {f"{name}_{key}": column for key, column in found.items()}


def _each(hands: Sequence[Sequence[Vectors]], summary: Callable[[Vectors], float]) -> Vectors:
    """Per hand and rule one number."""
    return np.array([[summary(lines) for lines in rules] for rules in hands], dtype=np.float64)


def _votes(near: Sequence[Sequence[Vectors]], off: Sequence[Sequence[Vectors]]) -> dict[str, Vectors]:
    """The share of each rule when all lines of the pool vote, the nearer the more."""
    unit = max(float(np.std(np.concatenate([lines for rules in near for lines in rules]))), 1e-6)
    ayes = _each(near, lambda lines: float(np.exp(2 * lines / unit).mean())).mean(axis=0)
    noes = _each(off, lambda lines: float(np.exp(2 * lines / unit).mean())).mean(axis=0)
    total = ayes.sum() + noes.sum()
    return {
        "votes": ayes / total,
        "votes_miss": noes / total,
        "votes_none": np.full(len(ayes), noes.sum() / total),
    }
