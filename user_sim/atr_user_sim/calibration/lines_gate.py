"""Gate S7 of the data set: with the question lines of one hand, the other hand's are recognised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from atr_user_sim.calibration.folds import of_hands
from atr_user_sim.calibration.measure import ClassifierQuestion, LabelledStatement, measure_classifier
from atr_user_sim.calibration.results import ClassifierCalibration
from atr_user_sim.interface import PoolRule
from atr_user_sim.lines import RuleLines
from atr_user_sim.offline.classifier import OfflineClassifier

_LEAST_RECALL, _MOST_FALSE = 0.8, 0.08


async def measure_lines(
    classifier: OfflineClassifier, pool: Sequence[PoolRule], lines: Mapping[str, RuleLines]
) -> ClassifierCalibration:
    """Both hands' lines as questions, each by a classifier that has those of the other hand alone. `lines`
    has an entry of two hands for each rule of the pool."""
    return await measure_classifier(_cases(classifier, pool, lines))


def passes_gate(measured: ClassifierCalibration) -> bool:
    recall, false = measured.recall, measured.false_positive_rate
    return recall is not None and false is not None and recall >= _LEAST_RECALL and false <= _MOST_FALSE


def _cases(
    classifier: OfflineClassifier, pool: Sequence[PoolRule], lines: Mapping[str, RuleLines]
) -> Iterator[tuple[OfflineClassifier, ClassifierQuestion]]:
    statements = [LabelledStatement(rule_id=rule.rule_id, statement=rule.canonical_answer) for rule in pool]
    for known, asking in (("first", "second"), ("second", "first")):
        knows = classifier.with_lines({rule.rule_id: of_hands(lines[rule.rule_id], known) for rule in pool})
        for rule in pool:
            (hand,) = of_hands(lines[rule.rule_id], asking).hands.values()
            for kind, gold, texts in (
                ("asked", rule.rule_id, hand.asked),
                ("not_asked", None, hand.not_asked),
            ):
                for text in texts:
                    yield (
                        knows,
                        ClassifierQuestion(
                            source=text,
                            kind=f"{kind} of the {asking} hand",
                            rule_question_span=text,
                            gold_rule_id=gold,
                            rule_pool=statements,
                        ),
                    )
