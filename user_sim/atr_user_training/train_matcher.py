"""Trains the offline Classifier: `make train-user`.

Four heads, with and without the encoder, with and without lines; each on all examples, and once more without
each group of writers, for the honest figures of `atr-client calibrate classifier`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atr_user_sim.calibration.folds import FOLDS
from atr_user_sim.offline.classifier import described
from atr_user_sim.offline.encoder import Encoder
from atr_user_sim.offline.head import HEADS, WEIGHTS, Head, candidates
from atr_user_sim.offline.meaning_features import PoolVectors
from atr_user_sim.offline.projection import Projection, Vectors
from atr_user_sim.offline.word_features import Columns
from atr_user_training.examples import (
    AGENT,
    Example,
    Pool,
    asked_questions,
    lines_as_questions,
    own_questions,
)
from atr_user_training.fit_forest import fit_forest
from atr_user_training.fit_projection import fit_projection
from atr_user_training.vectors import RememberingEncoder

_MOST_FALSE = {False: 0.1, True: 0.08}
"""By whether there are lines: how many of the unanswerable questions may get an answer in cross-validation,
those in an agent's voice left out. Sets the threshold."""

_ROUNDS = {"words": 150, "words_lines": 200, "encoder": 200, "encoder_lines": 250}
_FIRST_BY = {
    "words": "words_statement",
    "words_lines": "words_own",
    "encoder": "near_answer",
    "encoder_lines": "near_hands",
}
_LINE_WEIGHT = 0.5


@dataclass(frozen=True)
class _Described:
    example: Example
    columns: Columns


class Describer:
    """Columns of examples; those that no projection changes are worked out once."""

    def __init__(self, encoder: Encoder, any_projection: Projection) -> None:
        self._encoder = encoder
        self._projection = any_projection
        self._words: dict[int, Columns] = {}
        self._plain: dict[int, Columns] = {}
        self._pools: dict[int, PoolVectors] = {}

    def words(self, example: Example) -> Columns:
        if id(example) not in self._words:
            self._words[id(example)] = described(example.question, example.pool.known)
        return self._words[id(example)]

    def plain(self, example: Example) -> Columns:
        if id(example) not in self._plain:
            pool = self._pools.get(id(example.pool)) or self.pool(example.pool, self._projection)
            self._pools[id(example.pool)] = pool
            self._plain[id(example)] = self.words(example) | pool.plain_features(self.asked(example))
        return self._plain[id(example)]

    def pool(self, pool: Pool, projection: Projection) -> PoolVectors:
        return PoolVectors(pool.known, self._encoder, projection)

    def asked(self, example: Example) -> Vectors:
        return self._encoder.vectors([example.question], "query")[0].astype(np.float64)

    def __call__(self, examples: Sequence[Example], projection: Projection | None) -> list[_Described]:
        """Without a projection, words alone."""
        if projection is None:
            return [_Described(example, self.words(example)) for example in examples]
        pools: dict[int, PoolVectors] = {}
        found: list[_Described] = []
        for example in examples:
            pool = pools.setdefault(
                id(example.pool), pools.get(id(example.pool)) or self.pool(example.pool, projection)
            )
            projected = pool.projected_features(self.asked(example))
            found.append(_Described(example, self.plain(example) | projected))
        return found


def fit(name: str, described: Sequence[_Described], enough: float) -> Head:
    features = sorted(described[0].columns)
    rows: list[list[float]] = []
    labels: list[bool] = []
    weights: list[float] = []
    for one in described:
        for number in candidates(one.columns, _FIRST_BY[name]):
            rows.append([one.columns[feature][number] for feature in features])
            labels.append(number == one.example.gold)
            weights.append(_LINE_WEIGHT if one.example.kind == "line" else 1.0)
    forest = fit_forest(features, np.array(rows), labels, weights, _ROUNDS[name])
    return Head(forest, enough, _FIRST_BY[name])


def judge(head: Head, described: Sequence[_Described]) -> list[tuple[int, float]]:
    return [head.best(one.columns) for one in described]


def threshold(judged: Sequence[tuple[int, float]], golds: Sequence[int | None], most_false: float) -> float:
    """The least that lets less than the allowed share of unanswerable questions pass."""
    false = sorted((share for (_, share), gold in zip(judged, golds, strict=True) if gold is None))
    return round(false[-max(1, int(most_false * len(false)))] + 0.00002, 5)


def figures(pairs: Sequence[tuple[_Described, tuple[int, float]]], enough: float) -> dict[str, float]:
    golds = [one.example.gold for one, _ in pairs]
    said = [best if share >= enough else None for _, (best, share) in pairs]
    right = [s == g for s, g in zip(said, golds, strict=True)]
    found = [r for r, g in zip(right, golds, strict=True) if g is not None]
    false = [s is not None for s, g in zip(said, golds, strict=True) if g is None]
    rates = {
        "accuracy": np.mean(right),
        "always_none": len(false) / len(right),
        "recall": np.mean(found),
        "false_positives": np.mean(false),
    }
    return {"questions": len(right)} | {name: round(float(rate), 4) for name, rate in rates.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--folds", type=Path, default=FOLDS)
    parser.add_argument("--vectors", type=Path, help="a file that keeps what was encoded")
    parser.add_argument("--heads", nargs="*", default=[name for name, *_ in HEADS])
    chosen = parser.parse_args()
    remembering = RememberingEncoder(chosen.vectors)
    with_lines = [*asked_questions("both"), *asked_questions("first"), *lines_as_questions(with_lines=True)]
    without = [*asked_questions("none"), *lines_as_questions(with_lines=False), *own_questions()]
    groups = sorted({example.pool.group for example in without})
    lined = list({id(e.pool): e.pool for e in asked_questions("both")}.values())
    projections = {g: fit_projection([p for p in lined if p.group != g], remembering) for g in groups}
    projection = fit_projection(lined, remembering)
    remembering.save()
    _write(chosen.weights / "projection.json", projection.to_json())
    for group, one in projections.items():
        _write(chosen.folds / group / "projection.json", one.to_json())
    measured = _read(chosen.weights / "figures.json")
    describe = Describer(remembering, projection)
    for name, needs_encoder, needs_lines in HEADS:
        if name not in chosen.heads:
            continue
        examples = with_lines if needs_lines else without
        judged: list[tuple[_Described, tuple[int, float]]] = []
        heads: dict[str, Head] = {}
        for group in groups:
            if needs_lines and group == "own":
                continue
            every = describe(examples, projections[group] if needs_encoder else None)
            heads[group] = fit(name, [d for d in every if d.example.pool.group != group], 0.5)
            left_out = [d for d in every if d.example.pool.group == group and d.example.kind != "line"]
            judged += zip(left_out, judge(heads[group], left_out), strict=True)
        known = "both" if needs_lines else "none"
        asked = [pair for pair in judged if _sort(pair[0].example) == known]
        enough = threshold(
            [j for _, j in asked], [d.example.gold for d, _ in asked], _MOST_FALSE[needs_lines]
        )
        for label in ("first", "own", f"{AGENT}{known}"):
            if part := [p for p in judged if _sort(p[0].example) == label]:
                measured[f"{name}, {label.split(':')[0]}"] = figures(part, enough)
        measured[name] = figures(asked, enough)
        print(json.dumps({k: v for k, v in measured.items() if k.startswith(name)}), flush=True)  # noqa: T201
        for group, head in heads.items():
            _write(chosen.folds / group / f"{name}.json", Head(head.forest, enough, head.first_by).to_json())
        final = fit(name, describe(examples, projection if needs_encoder else None), enough)
        _write(chosen.weights / f"{name}.json", final.to_json())
        _write(chosen.weights / "figures.json", dict(sorted(measured.items())))
    remembering.save()


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
