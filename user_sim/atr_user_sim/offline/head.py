"""The learned part of the Classifier: which rule of a pool answers, from features, or that none does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from atr_user_sim.offline.trees import Forest
from atr_user_sim.offline.word_features import Columns

WEIGHTS = Path(str(files("atr_user_sim"))) / "offline" / "weights"


@dataclass(frozen=True, slots=True)
class Head:
    """`enough` is the probability from which the most probable rule is the answer, `enough_long` the same for
    a question of many words: each lets the same share of unanswerable ones pass. Only the few rules that lead
    in the column `first_by` are judged."""

    forest: Forest
    enough: float
    enough_long: float
    first_by: str

    def choose(self, columns: Columns) -> int | None:
        """The number of the rule that answers, None when none does."""
        best, share = self.best(columns)
        return best if share >= self.needed(columns) else None

    def needed(self, columns: Columns) -> float:
        return self.enough_long if is_long(columns["length"][0]) else self.enough

    def best(self, columns: Columns) -> tuple[int, float]:
        """The most probable rule, and how probable it is."""
        shares = {
            number: self.forest.share([columns[name][number] for name in self.forest.features])
            for number in candidates(columns, self.first_by)
        }
        best = max(shares, key=shares.__getitem__)
        return best, shares[best]

    def to_json(self) -> dict[str, Any]:
        return {
            "enough": self.enough,
            "enough_long": self.enough_long,
            "first_by": self.first_by,
        } | self.forest.to_json()

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Head:
        return cls(Forest.from_json(raw), raw["enough"], raw["enough_long"], raw["first_by"])


def is_long(words: float) -> bool:
    """So many words and more have a threshold of their own."""
    return words >= _LONG


def candidates(columns: Columns, first_by: str) -> list[int]:
    """The numbers of the rules that lead in a column, in the order of the pool."""
    values = columns[first_by]
    return sorted(sorted(range(len(values)), key=lambda number: -values[number])[:LEADERS])


LEADERS = 4
"""How many rules are judged. Six found no more right ones."""

_LONG = 22
"""Words."""

HEADS: Sequence[tuple[str, bool, bool]] = (
    ("words", False, False),
    ("words_lines", False, True),
    ("encoder", True, False),
    ("encoder_lines", True, True),
)
"""Name, whether it needs the encoder, whether it needs lines."""


def head_name(*, encoder: bool, lines: bool) -> str:
    return next(name for name, *needs in HEADS if needs == [encoder, lines])


@cache
def trained_head(folder: Path, name: str) -> Head:
    return Head.from_json(weights(folder, name))


@cache
def weights(folder: Path, name: str) -> Mapping[str, Any]:
    """A file of weights as JSON."""
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
