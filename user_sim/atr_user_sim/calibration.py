"""Measuring a Router or a Classifier, model-backed or offline, on labelled turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from atr_data.reading import StrPath, read_records
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


class _Statement(BaseModel):
    rule_id: str
    statement: str


class ClassifierQuestion(_Line):
    """A question, a pool of statements, and the one that answers it, or None."""

    rule_question_span: str
    gold_rule_id: str | None
    rule_pool: list[_Statement]


@dataclass(frozen=True, slots=True)
class Confusion:
    """A line that was judged wrongly: what it asks, what is right and what came back."""

    source: str
    text: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class RouterCalibration:
    """Counts over labelled turns; `exact` are right asking sentences. Rates of nothing are None."""

    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int
    exact: int
    by_kind: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    confusions: Sequence[Confusion] = ()

    @property
    def total(self) -> int:
        return self.true_positives + self.false_positives + self.true_negatives + self.false_negatives

    @property
    def accuracy(self) -> float | None:
        return _rate(self.true_positives + self.true_negatives, self.total)

    @property
    def precision(self) -> float | None:
        return _rate(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        return _rate(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def exact_span_rate(self) -> float | None:
        """Of the turns that ask, how many gave exactly the asking sentence."""
        return _rate(self.exact, self.true_positives + self.false_negatives)

    @property
    def false_positive_rate(self) -> float | None:
        return _rate(self.false_positives, self.false_positives + self.true_negatives)

    def render(self) -> list[str]:
        return [
            f"router: {self.total} turns",
            *_table(self, ("accuracy", "precision", "recall", "exact_span_rate", "false_positive_rate")),
            *(f"  {kind}: {right}/{of}" for kind, (right, of) in self.by_kind.items()),
            *_confusion_lines(self.confusions),
        ]


@dataclass(frozen=True, slots=True)
class ClassifierCalibration:
    """Counts over labelled questions. `wrong` are answerable questions given another rule."""

    right: int
    wrong: int
    missed: int
    right_null: int
    false_hits: int
    confusions: Sequence[Confusion] = ()

    @property
    def total(self) -> int:
        return self.right + self.wrong + self.missed + self.right_null + self.false_hits

    @property
    def accuracy(self) -> float | None:
        return _rate(self.right + self.right_null, self.total)

    @property
    def precision(self) -> float | None:
        return _rate(self.right, self.right + self.wrong + self.false_hits)

    @property
    def recall(self) -> float | None:
        """Of the answerable questions, how many got their rule."""
        return _rate(self.right, self.right + self.wrong + self.missed)

    @property
    def always_null_accuracy(self) -> float | None:
        return _rate(self.right_null + self.false_hits, self.total)

    @property
    def false_positive_rate(self) -> float | None:
        return _rate(self.false_hits, self.right_null + self.false_hits)

    def render(self) -> list[str]:
        return [
            f"classifier: {self.total} questions",
            *_table(self, ("accuracy", "always_null_accuracy", "precision", "recall", "false_positive_rate")),
            *_confusion_lines(self.confusions),
        ]


async def calibrate_router(router: Router, file: StrPath) -> RouterCalibration:
    """Raises DataError for a line that is no labelled turn."""
    counts: Counter[str] = Counter()
    kinds: dict[str, list[bool]] = {}
    confusions: list[Confusion] = []
    for turn in _read(file, RouterTurn):
        verdict = await router.route(output=turn.output, reason=turn.reason)
        asked, said = turn.gold_is_strict_rule_question, verdict.is_strict_rule_question
        counts[f"{'true' if asked == said else 'false'}_{'positives' if said else 'negatives'}"] += 1
        counts["exact"] += asked and verdict.rule_question_span == turn.gold_rule_question_span
        kinds.setdefault(turn.kind, []).append(asked == said)
        if (asked, turn.gold_rule_question_span) != (said, verdict.rule_question_span):
            expected, got = turn.gold_rule_question_span or "nothing", verdict.rule_question_span or "nothing"
            confusions.append(Confusion(turn.source, turn.output, expected, got))
    return RouterCalibration(
        *(
            counts[name]
            for name in ("true_positives", "false_positives", "true_negatives", "false_negatives", "exact")
        ),
        by_kind={kind: (sum(right), len(right)) for kind, right in kinds.items()},
        confusions=confusions,
    )


async def calibrate_classifier(classifier: Classifier, file: StrPath) -> ClassifierCalibration:
    """Raises DataError for a line that is no labelled question."""
    counts: Counter[str] = Counter()
    confusions: list[Confusion] = []
    for line in _read(file, ClassifierQuestion):
        pool = [PoolRule(rule.rule_id, rule.statement) for rule in line.rule_pool]
        got = (await classifier.classify(question=line.rule_question_span, pool=pool)).rule_id
        counts[_outcome(line.gold_rule_id, got)] += 1
        if got != line.gold_rule_id:
            expected = line.gold_rule_id or "null"
            confusions.append(Confusion(line.source, line.rule_question_span, expected, got or "null"))
    names = ("right", "wrong", "missed", "right_null", "false_hits")
    return ClassifierCalibration(*(counts[name] for name in names), confusions=confusions)


def own_turns(role: str) -> Path:
    """The labelled file that ships with the package: `role` is `router` or `classifier`."""
    return Path(str(files("atr_user_sim").joinpath("calibration", f"own_{role}.jsonl")))


def _outcome(gold: str | None, got: str | None) -> str:
    if gold is None:
        return "right_null" if got is None else "false_hits"
    if got is None:
        return "missed"
    return "right" if got == gold else "wrong"


def _read(file: StrPath, model: type[_T]) -> list[_T]:
    return list(read_records(file, model.model_validate, model.__name__))


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _table(result: Any, names: Sequence[str]) -> list[str]:
    values = [(name.replace("_", " "), getattr(result, name)) for name in names]
    return [f"  {name}: {'-' if value is None else format(value, '.3f')}" for name, value in values]


def _confusion_lines(confusions: Sequence[Confusion]) -> list[str]:
    return [f"  {c.source}: expected {c.expected!r}, got {c.got!r}" for c in confusions]
