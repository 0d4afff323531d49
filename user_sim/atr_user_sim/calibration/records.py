"""The labelled data that ships with the package: statements, lines, questions, turns of invented personas."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from atr_data.reading import read_records
from atr_user_sim.lines import Hand, RuleLines, WordLists

DATA = Path(str(files("atr_user_sim").joinpath("calibration")))

_T = TypeVar("_T", bound=BaseModel)


class _Record(BaseModel):
    """`writer` is the hand that wrote it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    persona: str


class StatementRecord(_Record):
    writer: str
    rule: str
    domain: str
    statement: str
    about: WordLists


class LineRecord(_Record):
    hand: str
    rule: str
    asked: tuple[str, ...]
    not_asked: tuple[str, ...]


class QuestionRecord(_Record):
    """`gold` is the rule that answers, None when nothing does."""

    writer: str
    kind: str
    gold: str | None
    question: str


class TurnRecord(_Record):
    """`span` is the sentence that asks a standing-rule question, None when none does."""

    writer: str
    kind: str
    span: str | None
    output: str
    reason: str


def statements() -> list[StatementRecord]:
    return _read("statements", StatementRecord)


def questions() -> list[QuestionRecord]:
    return _read("questions", QuestionRecord)


def agent_questions() -> list[QuestionRecord]:
    """More of them, in the voice of an agent that asks for a standing rule; `kind` is the style."""
    return _read("agent_questions", QuestionRecord)


def turns() -> list[TurnRecord]:
    return _read("turns", TurnRecord)


def line_records() -> list[LineRecord]:
    return _read("lines", LineRecord)


def persona_lines() -> Mapping[str, RuleLines]:
    """The lines of every statement, by rule id."""
    found: dict[str, dict[str, Hand]] = {}
    for record in line_records():
        hands = found.setdefault(record.rule, {})
        hands[record.hand] = Hand(asked=record.asked, not_asked=record.not_asked)
    return {s.rule: RuleLines(hands=found[s.rule], about=s.about) for s in statements()}


def _read(name: str, model: type[_T]) -> list[_T]:
    return list(read_records(DATA / f"{name}.jsonl", model.model_validate, model.__name__))
