"""How well each statement of a pool fits a question by its words: whether it is about the question's
situation and decides on the question's dimension. Sums over sets are exact (`fsum`): sets have no order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from atr_data.english.situations import service_verbs
from atr_data.english.words import USER
from atr_user_sim.offline.statements import Meaning, Question


class Fit(NamedTuple):
    """What speaks for and against one statement as the answer to one question."""

    shared_words: float
    """Cosine of the words, rarer ones in the pool counting more."""
    shared_situation: float
    """0 for none, else from 0.5 for one that every statement of the pool has to 1 for one of its own."""
    other_situation: float
    """Both name situations, none in common."""
    aspect: float
    """1 when both decide on the same dimension, -1 when the question names only others."""
    open_choice: float
    """The question names no dimension and asks how to choose in the situation of the statement."""
    extra_service: float
    """The question offers to do something beside, of which the statement does not speak."""
    first_option: float
    """How much of the first option the statement speaks of."""
    best_option: float
    """The same for the option of which it speaks most, words of the trigger left out."""
    statement_covered: float
    """How much of the statement the question speaks of."""


def fits(question: Question, statements: Sequence[Meaning]) -> list[Fit]:
    words = _Rarity(statement.stems for statement in statements)
    situations = _Rarity(statement.situations for statement in statements)
    return [_fit(question, statement, words, situations) for statement in statements]


class _Rarity:
    def __init__(self, sets: Iterable[frozenset[str]]) -> None:
        self._number, self._with = 0, Counter[str]()
        for items in sets:
            self._number += 1
            self._with.update(items)

    def idf(self, item: str) -> float:
        return math.log((self._number + 1) / (0.5 + self._with[item]))

    def relative(self, item: str) -> float:
        """1 for what only one statement has."""
        return self.idf(item) / math.log((self._number + 1) / 1.5)


def _fit(question: Question, statement: Meaning, words: _Rarity, situations: _Rarity) -> Fit:
    asked = question.whole
    shared_words = math.fsum(words.idf(s) for s in asked.stems & statement.stems)
    length = math.sqrt(math.fsum(words.idf(s) ** 2 for s in statement.stems)) or 1.0
    same = asked.situations & statement.situations
    covered = [option.covered_by(statement) for option in question.options]
    news = [option.without(question.trigger).covered_by(statement) for option in question.options]
    verb = question.proposes
    return Fit(
        shared_words=min(shared_words / length, 1.5),
        shared_situation=0.5 + 0.5 * max(map(situations.relative, same)) if same else 0.0,
        other_situation=float(bool(asked.situations and statement.situations and not same)),
        aspect=_aspect(question, statement),
        open_choice=float(bool(not question.aspects and same and question.asks_choice)),
        extra_service=float(
            verb is not None and verb in service_verbs() and USER.stem(verb) not in statement.stems
        ),
        first_option=covered[0] if covered else 0.0,
        best_option=max(news, default=0.0),
        statement_covered=statement.covered_by(asked),
    )


def _aspect(question: Question, statement: Meaning) -> float:
    if question.main.aspects & statement.aspects:
        return 1.0
    elsewhere = question.aspects and not question.aspects & statement.aspects
    return -1.0 if elsewhere else 0.0
