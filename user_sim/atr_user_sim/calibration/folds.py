"""Our own questions and turns, each judged by weights that saw neither its persona nor its writers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from atr_user_sim.calibration.measure import ClassifierQuestion, LabelledStatement, RouterTurn
from atr_user_sim.calibration.records import DATA, QuestionRecord, persona_lines, questions, statements, turns
from atr_user_sim.lines import RuleLines
from atr_user_sim.offline.classifier import OfflineClassifier, TextComparison, offline_encoder
from atr_user_sim.offline.router import OfflineRouter, offline_router

FOLDS = DATA / "folds"
"""A folder of weights per group that was left out: the hand that wrote the statements, and so all its
personas and all who wrote questions and turns on them."""

Hands = Literal["both", "first", "none"]
"""Whose lines the user has. The first hand wrote the statements and no question; the second one's lines come
from whoever wrote the questions."""


def own_turns() -> Iterator[tuple[OfflineRouter, RouterTurn]]:
    groups = _groups()
    routers = {group: offline_router(FOLDS / group) for group in set(groups.values())}
    for number, turn in enumerate(turns(), start=1):
        yield (
            routers[groups[turn.persona]],
            RouterTurn(
                source=f"{turn.persona}_{number:04}",
                kind=turn.kind,
                reason=turn.reason,
                output=turn.output,
                gold_is_strict_rule_question=turn.span is not None,
                gold_rule_question_span=turn.span,
            ),
        )


def own_questions(
    comparison: TextComparison, hands: Hands, records: Sequence[QuestionRecord] | None = None
) -> Iterator[tuple[OfflineClassifier, ClassifierQuestion]]:
    """By default those of the writers that no weights judging them have seen; of `agent_questions` only the
    personas are left out, since one writer wrote them all. Raises ImportError as `offline_encoder` does."""
    groups = _groups()
    lines = {rule: of_hands(found, hands) for rule, found in persona_lines().items()}
    known = {} if hands == "none" else lines
    classifiers = {
        group: OfflineClassifier(offline_encoder(comparison, FOLDS / group), known, FOLDS / group)
        for group in set(groups.values())
    }
    pools: dict[str, list[LabelledStatement]] = {}
    for record in statements():
        statement = LabelledStatement(rule_id=record.rule, statement=record.statement)
        pools.setdefault(record.persona, []).append(statement)
    for number, question in enumerate(questions() if records is None else records, start=1):
        yield (
            classifiers[groups[question.persona]],
            ClassifierQuestion(
                source=f"{question.persona}_{number:04}",
                kind=question.kind,
                rule_question_span=question.question,
                gold_rule_id=question.gold,
                rule_pool=pools[question.persona],
            ),
        )


def of_hands(lines: RuleLines, hands: str) -> RuleLines:
    """The same with the lines of the `first` hand, of the `second`, or of all."""
    names = list(lines.hands)
    chosen = {"first": names[:1], "second": names[1:]}.get(hands, names)
    return RuleLines(hands={name: lines.hands[name] for name in chosen}, about=lines.about)


def _groups() -> dict[str, str]:
    return {record.persona: record.writer for record in statements()}
