"""Trains the offline Router: part of `make train-user`.

A logistic regression over the features of a sentence, on all turns, and once more without each group of
writers.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from atr_user_sim.calibration.folds import FOLDS
from atr_user_sim.calibration.records import DATA, statements, turns
from atr_user_sim.offline.head import WEIGHTS
from atr_user_sim.offline.sentence_features import WORDS_TOGETHER, message_features
from atr_user_sim.offline.sentences import sentences
from atr_user_training.examples import OWN

_RIDGE = 2.0
_LEAST_OFTEN = 4
_LEAST_GROUPS = 2
_ENOUGH = 0.5
_NEGLIGIBLE = 0.005

Features = Mapping[str, float]


@dataclass(frozen=True)
class _Turn:
    """`asks` is, per sentence, whether it is the one that asks; None when none is, though one should be."""

    group: str
    features: Sequence[Features]
    asks: Sequence[bool] | None


def read_turns() -> list[_Turn]:
    groups = {record.persona: record.writer for record in statements()}
    raw = [(groups[t.persona], t.output, t.reason, t.span) for t in turns()]
    for line in (DATA / "own_router.jsonl").read_text(encoding="utf-8").splitlines():
        own = json.loads(line)
        raw.append((OWN, own["output"], own["reason"], own["gold_rule_question_span"]))
    found: list[_Turn] = []
    for group, output, reason, span in raw:
        spoken = sentences(output)
        asks = [sentence.text == span for sentence in spoken]
        unclear = span is not None and not any(asks)
        found.append(_Turn(group, message_features(spoken, reason), None if unclear else asks))
    return found


def fit(known: Sequence[_Turn]) -> dict[str, Any]:
    names = sorted(_frequent(known))
    column = {name: number for number, name in enumerate(names)}
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    labels: list[bool] = []
    for turn in known:
        for features, asks in zip(turn.features, turn.asks or (), strict=False):
            for name, value in features.items():
                if name in column and value:
                    rows.append(len(labels))
                    columns.append(column[name])
                    values.append(value)
            labels.append(asks)
    matrix: Any = import_module("scipy.sparse").csr_matrix(
        (values, (rows, columns)), shape=(len(labels), len(names))
    )
    truth = np.array(labels, dtype=np.float64)

    def loss(weights: Any) -> tuple[float, Any]:
        scores = matrix @ weights[:-1] + weights[-1]
        slopes = 1 / (1 + np.exp(-scores)) - truth
        gradient = np.append(matrix.T @ slopes + _RIDGE * weights[:-1], slopes.sum())
        value = np.logaddexp(0, scores).sum() - truth @ scores + _RIDGE / 2 * (weights[:-1] @ weights[:-1])
        return float(value), gradient

    found: Any = import_module("scipy.optimize").minimize(
        loss, np.zeros(len(names) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 500}
    )
    kept = {
        name: round(float(weight), 3)
        for name, weight in zip(names, found.x[:-1], strict=True)
        if abs(weight) > _NEGLIGIBLE
    }
    return {"enough": _ENOUGH, "bias": round(float(found.x[-1]), 3), "weights": kept}


def _frequent(known: Sequence[_Turn]) -> Collection[str]:
    """Words count from so many sentences and groups on: what one persona speaks of is not for all."""
    often: Counter[str] = Counter()
    groups: dict[str, set[str]] = {}
    for turn in known:
        for features in turn.features:
            often.update(features)
            for name in features:
                groups.setdefault(name, set()).add(turn.group)
    return {
        name
        for name, times in often.items()
        if WORDS_TOGETHER not in name or (times >= _LEAST_OFTEN and len(groups[name]) >= _LEAST_GROUPS)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--folds", type=Path, default=FOLDS)
    chosen = parser.parse_args()
    known = read_turns()
    for group in sorted({turn.group for turn in known}):
        _write(chosen.folds / group / "router.json", fit([turn for turn in known if turn.group != group]))
    _write(chosen.weights / "router.json", fit(known))


def _write(file: Path, content: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, separators=(",", ":"), ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
