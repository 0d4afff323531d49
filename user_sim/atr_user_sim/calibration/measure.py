"""Measuring a Router or a Classifier, model-backed or offline, on labelled turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from atr_data.reading import StrPath, read_records
from atr_user_sim.calibration.rates import Rate
from atr_user_sim.calibration.records import DATA
from atr_user_sim.calibration.results import ClassifierCalibration, Confusion, RouterCalibration
from atr_user_sim.interface import Classifier, PoolRule, Router

_T = TypeVar("_T", bound=BaseModel)


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    source: str
    kind: str = "all"


class RouterTurn(_Line):
    """A message of an agent, whether it asks a standing-rule question, and the sentence that asks."""

    reason: str
    output: str
    gold_is_strict_rule_question: bool
    gold_rule_question_span: str | None


class LabelledStatement(BaseModel):
    rule_id: str
    statement: str


class ClassifierQuestion(_Line):
    """A question, a pool of statements, and the one that answers it, or None."""

    rule_question_span: str
    gold_rule_id: str | None
    rule_pool: list[LabelledStatement]


async def calibrate_router(router: Router, file: StrPath) -> RouterCalibration:
    """Raises DataError for a line that is no labelled turn."""
    return await measure_router((router, turn) for turn in _read(file, RouterTurn))


async def calibrate_classifier(classifier: Classifier, file: StrPath) -> ClassifierCalibration:
    """Raises DataError for a line that is no labelled question."""
    return await measure_classifier((classifier, line) for line in _read(file, ClassifierQuestion))


def earlier_file(role: str) -> Path:
    """The labelled turns of one writer that came first; `role` is `router` or `classifier`."""
    return DATA / f"own_{role}.jsonl"


async def measure_router(cases: Iterable[tuple[Router, RouterTurn]]) -> RouterCalibration:
    """Each turn by the router that stands beside it."""
    counts: Counter[str] = Counter()
    kinds: dict[str, list[bool]] = {}
    confusions: list[Confusion] = []
    for router, turn in cases:
        verdict = await router.route(output=turn.output, reason=turn.reason)
        asked, said = turn.gold_is_strict_rule_question, verdict.is_strict_rule_question
        counts[f"{'true' if asked == said else 'false'}_{'positives' if said else 'negatives'}"] += 1
        counts["exact"] += asked and verdict.rule_question_span == turn.gold_rule_question_span
        kinds.setdefault(_kind(turn.kind, asked), []).append(asked == said)
        if (asked, turn.gold_rule_question_span) != (said, verdict.rule_question_span):
            expected, got = turn.gold_rule_question_span or "nothing", verdict.rule_question_span or "nothing"
            confusions.append(Confusion(turn.source, turn.output, expected, got))
    return RouterCalibration(
        *(
            counts[name]
            for name in ("true_positives", "false_positives", "true_negatives", "false_negatives", "exact")
        ),
        by_kind=_rates(kinds),
        confusions=confusions,
    )


async def measure_classifier(cases: Iterable[tuple[Classifier, ClassifierQuestion]]) -> ClassifierCalibration:
    """Each question by the classifier that stands beside it."""
    counts: Counter[str] = Counter()
    kinds: dict[str, list[bool]] = {}
    confusions: list[Confusion] = []
    for classifier, line in cases:
        pool = [PoolRule(rule.rule_id, rule.statement) for rule in line.rule_pool]
        got = (await classifier.classify(question=line.rule_question_span, pool=pool)).rule_id
        counts[_outcome(line.gold_rule_id, got)] += 1
        kinds.setdefault(_kind(line.kind, line.gold_rule_id is not None), []).append(got == line.gold_rule_id)
        if got != line.gold_rule_id:
            expected = line.gold_rule_id or "null"
            confusions.append(Confusion(line.source, line.rule_question_span, expected, got or "null"))
    names = ("right", "wrong", "missed", "right_null", "false_hits")
    return ClassifierCalibration(
        *(counts[name] for name in names), by_kind=_rates(kinds), confusions=confusions
    )


def _kind(name: str, positive: bool) -> str:
    """Those to be found first when the kinds are in order."""
    return f"{'+' if positive else '-'}{name}"


def _rates(kinds: Mapping[str, list[bool]]) -> dict[str, Rate]:
    return {kind: Rate(sum(kinds[kind]), len(kinds[kind])) for kind in sorted(kinds)}


def _outcome(gold: str | None, got: str | None) -> str:
    if gold is None:
        return "right_null" if got is None else "false_hits"
    if got is None:
        return "missed"
    return "right" if got == gold else "wrong"


def _read(file: StrPath, model: type[_T]) -> list[_T]:
    return list(read_records(file, model.model_validate, model.__name__))
