"""What measuring a Router or a Classifier gives, and how it is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from atr_user_sim.calibration.rates import Rate


@dataclass(frozen=True, slots=True)
class Confusion:
    """A line that was judged wrongly: what it asks, what is right and what came back."""

    source: str
    text: str
    expected: str
    got: str


def _kinds() -> dict[str, Rate]:
    return {}


@dataclass(frozen=True, slots=True)
class RouterCalibration:
    """Counts over labelled turns; `exact` are right asking sentences. Rates of nothing are None."""

    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int
    exact: int
    by_kind: Mapping[str, Rate] = field(default_factory=_kinds)
    confusions: Sequence[Confusion] = ()

    @property
    def total(self) -> int:
        return self._asking + self._silent

    @property
    def accuracy(self) -> float | None:
        return self._rates["accuracy"].value

    @property
    def precision(self) -> float | None:
        return self._rates["precision"].value

    @property
    def recall(self) -> float | None:
        return self._rates["recall"].value

    @property
    def exact_span_rate(self) -> float | None:
        """Of the turns that ask, how many gave exactly the asking sentence."""
        return self._rates["exact span rate"].value

    @property
    def false_positive_rate(self) -> float | None:
        return self._rates["false positive rate"].value

    def render(self, heading: str = "router", *, confusions: bool = True) -> list[str]:
        shown = self.confusions if confusions else ()
        return [f"{heading}: {self.total} turns", *_rendered(self._rates, self.by_kind, shown)]

    @property
    def _asking(self) -> int:
        return self.true_positives + self.false_negatives

    @property
    def _silent(self) -> int:
        return self.false_positives + self.true_negatives

    @property
    def _rates(self) -> Mapping[str, Rate]:
        return {
            "accuracy": Rate(self.true_positives + self.true_negatives, self.total),
            "always no": Rate(self._silent, self.total),
            "precision": Rate(self.true_positives, self.true_positives + self.false_positives),
            "recall": Rate(self.true_positives, self._asking),
            "exact span rate": Rate(self.exact, self._asking),
            "false positive rate": Rate(self.false_positives, self._silent),
        }


@dataclass(frozen=True, slots=True)
class ClassifierCalibration:
    """Counts over labelled questions. `wrong` are answerable questions given another rule."""

    right: int
    wrong: int
    missed: int
    right_null: int
    false_hits: int
    by_kind: Mapping[str, Rate] = field(default_factory=_kinds)
    confusions: Sequence[Confusion] = ()

    @property
    def total(self) -> int:
        return self._answerable + self._unanswerable

    @property
    def accuracy(self) -> float | None:
        return self._rates["accuracy"].value

    @property
    def precision(self) -> float | None:
        return self._rates["precision"].value

    @property
    def recall(self) -> float | None:
        """Of the answerable questions, how many got their rule."""
        return self._rates["recall"].value

    @property
    def always_null_accuracy(self) -> float | None:
        return self._rates["always null accuracy"].value

    @property
    def false_positive_rate(self) -> float | None:
        return self._rates["false positive rate"].value

    def render(self, heading: str = "classifier", *, confusions: bool = True) -> list[str]:
        shown = self.confusions if confusions else ()
        return [f"{heading}: {self.total} questions", *_rendered(self._rates, self.by_kind, shown)]

    @property
    def _answerable(self) -> int:
        return self.right + self.wrong + self.missed

    @property
    def _unanswerable(self) -> int:
        return self.right_null + self.false_hits

    @property
    def _rates(self) -> Mapping[str, Rate]:
        return {
            "accuracy": Rate(self.right + self.right_null, self.total),
            "always null accuracy": Rate(self._unanswerable, self.total),
            "precision": Rate(self.right, self.right + self.wrong + self.false_hits),
            "recall": Rate(self.right, self._answerable),
            "false positive rate": Rate(self.false_hits, self._unanswerable),
        }


def _rendered(
    rates: Mapping[str, Rate], by_kind: Mapping[str, Rate], confusions: Sequence[Confusion]
) -> list[str]:
    return [
        *(f"  {name}: {rate.render()}" for name, rate in rates.items()),
        *(f"  {kind}: {rate.part}/{rate.whole}" for kind, rate in by_kind.items()),
        *(f"  {c.source}: expected {c.expected!r}, got {c.got!r}" for c in confusions),
    ]
