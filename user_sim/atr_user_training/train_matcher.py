"""Trains the offline Classifier: `make train-user`.

Four heads, with and without the encoder, with and without lines; each on all examples, and once more without
each group of writers, for the honest figures of `atr-client calibrate classifier`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atr_user_sim.calibration.folds import FOLDS
from atr_user_sim.offline.head import HEADS, WEIGHTS, Head, is_long
from atr_user_sim.offline.text_vectors import VECTORS
from atr_user_training.examples import (
    AGENT,
    OWN,
    Example,
    asked_questions,
    lines_as_questions,
    own_questions,
)
from atr_user_training.feature_table import FeatureTable, MeaningTables, words_table
from atr_user_training.fit_forest import fit_forest
from atr_user_training.made_from import record
from atr_user_training.shipped_texts import shipped_texts
from atr_user_training.spaces import Spaces
from atr_user_training.verdicts import Verdicts, figures, joined, judge, threshold

_MOST_FALSE = {False: 0.1, True: 0.08}
"""By whether there are lines: how many of the unanswerable questions may get an answer in cross-validation,
the same for short ones of unseen writers and for long ones in an agent's voice. Sets the thresholds."""

_FITTED = {
    "words": (150, 0.05),
    "words_lines": (200, 0.05),
    "encoder": (200, 0.05),
    "encoder_lines": (300, 0.1),
}
"""Rounds, and how much each counts."""

_FIRST_BY = {
    "words": "words_statement",
    "words_lines": "words_own",
    "encoder": "near_statement",
    "encoder_lines": "near_hands",
}
_LINE_WEIGHT = 0.5


def fit(name: str, table: FeatureTable, enough: tuple[float, float] = (0.5, 0.5)) -> Head:
    leaders = table.leaders(_FIRST_BY[name])
    rows = np.take_along_axis(table.values, leaders[:, :, None], axis=1)
    there = ~np.isnan(rows).all(axis=2)
    labels = leaders == table.golds[:, None]
    weights = np.array([_LINE_WEIGHT if e.kind == "line" else 1.0 for e in table.examples])
    each = np.broadcast_to(weights[:, None], labels.shape)
    forest = fit_forest(table.names, rows[there], labels[there], each[there], *_FITTED[name])
    return Head(forest, *enough, _FIRST_BY[name])


class _Data:
    """All examples with what is known of them, with lines or without."""

    def __init__(self, examples: Sequence[Example], spaces: Spaces) -> None:
        self.words = words_table(examples)
        self._meanings = MeaningTables(examples, spaces)
        self.group = np.array([example.pool.group for example in examples])
        self.sort = np.array([_sort(example) for example in examples])
        self.is_line = np.array([example.kind == "line" for example in examples])
        self.is_long = np.array([is_long(words) for words in self.words.column("length")[:, 0].tolist()])

    def table(self, without: str, *, meaning: bool) -> FeatureTable:
        """For the head that has not seen a group, "" for the one that has seen all."""
        return self.words.beside(*self._meanings.without(without)) if meaning else self.words


def train(
    name: str, data: _Data, known: str, *, meaning: bool
) -> tuple[dict[str, Head], Head, dict[str, dict[str, float]]]:
    """Heads that have not seen a group, by group, the one that has seen all, and figures of the former.
    `known` is whose lines there are, `meaning` whether the encoder is there."""
    heads: dict[str, Head] = {}
    judged: list[Verdicts] = []
    numbers: list[NDArray[np.intp]] = []
    groups = sorted(set(data.group.tolist()))
    for group in groups:
        table = data.table(group, meaning=meaning)
        heads[group] = fit(name, table.where(data.group != group))
        left_out = (data.group == group) & ~data.is_line
        judged.append(judge(heads[group], table.where(left_out)))
        numbers.append(np.flatnonzero(left_out))
    order = np.concatenate(numbers)
    found, sort, is_long = joined(judged), data.sort[order], data.is_long[order]
    long = found.where((sort == AGENT + known) & is_long)
    most = _MOST_FALSE[known == "both"]
    enough = threshold(found.where(sort == known), most), threshold(long, most)
    needed = np.where(is_long, enough[1], enough[0])
    measured = {
        f"{name}, {label.split(':')[0]}": figures(found.where(sort == label), needed[sort == label])
        for label in ("first", "own", AGENT + known)
        if (sort == label).any()
    }
    measured[name] = figures(found.where(sort == known), needed[sort == known])
    with_thresholds = {g: Head(head.forest, *enough, head.first_by) for g, head in heads.items()}
    return with_thresholds, fit(name, data.table("", meaning=meaning), enough), measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--folds", type=Path, default=FOLDS)
    parser.add_argument("--vectors", type=Path, help="a folder that keeps what was encoded")
    parser.add_argument("--heads", nargs="*", default=[name for name, *_ in HEADS])
    chosen = parser.parse_args()
    lined = [*asked_questions("both"), *asked_questions("first"), *lines_as_questions(with_lines=True)]
    plain = [*asked_questions("none"), *lines_as_questions(with_lines=False), *own_questions()]
    pools = list({id(e.pool): e.pool for e in lined if _sort(e) == "both"}.values())
    spaces = Spaces(pools, chosen.vectors)
    spaces.without().encoder.save(chosen.weights / VECTORS, shipped_texts())
    for group in ("", OWN, *sorted({pool.group for pool in pools})):
        folder = chosen.folds / group if group else chosen.weights
        _write(folder / "projection.json", spaces.without(group).projection.to_json())
    data: dict[bool, _Data] = {}
    measured = _read(chosen.weights / "figures.json")
    for name, needs_encoder, needs_lines in HEADS:
        if name not in chosen.heads:
            continue
        if needs_lines not in data:
            data[needs_lines] = _Data(lined if needs_lines else plain, spaces)
        known = "both" if needs_lines else "none"
        heads, final, figures = train(name, data[needs_lines], known, meaning=needs_encoder)
        for group, head in heads.items():
            _write(chosen.folds / group / f"{name}.json", head.to_json())
        _write(chosen.weights / f"{name}.json", final.to_json())
        measured |= figures
        _write(chosen.weights / "figures.json", dict(sorted(measured.items())))
        print(json.dumps(figures), flush=True)  # noqa: T201
    if len(chosen.heads) == len(HEADS):
        record(chosen.weights)
    spaces.save()


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _sort(example: Example) -> str:
    if example.kind == "own":
        return "own"
    hands = max((len(lines.hands) for lines in example.pool.lines.values()), default=0)
    voice = AGENT if example.kind.startswith(AGENT) else ""
    return voice + ("none", "first", "both")[hands]


def _write(file: Path, content: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
