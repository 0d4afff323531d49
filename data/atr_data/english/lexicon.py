"""What a text speaks of, for or against: its words, and the meanings that the dictionary gives them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from atr_data.english.words import AGENTS, dictionary

_CLAUSE = re.compile(r"[,;:!?()—–]|\.(?=\s|$)|\bbut\b", re.I)
_OPENING = re.compile(
    r"(?:if|when(?:ever)?|for|with|at|after|before|on|in|once|since|as|while|during|any\w*)\b"
    r".{4,}?(?:,|\s(?=I(?:['’](?:d|ll|m))? ))",
    re.I,
)
_TURNING_PAIRS = frozenset({("rather", "than"), ("instead", "of"), ("ahead", "of")})
_TURNING_WORDS = frozenset(
    "not never no none nothing nobody nowhere neither nor without avoid skip than cannot".split()
)
_PREFERRING = frozenset(
    map(
        AGENTS.stem, "prefer choose pick favor favour take rather like want value buy book love trust".split()
    )
)
"""Behind one of these `over` compares; elsewhere it is a plain preposition."""
_PASSED_OVER = frozenset("it them him her".split())
"""Words that may stand inside an expression: `send it back`."""

_LONGEST = 4


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a meaning in a text. `sign` is -1 where the text turns away from it."""

    name: str
    sign: int


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Meanings by the stems of the words, or of several words in a row, that stand for them."""

    meanings: Mapping[tuple[str, ...], tuple[Term, ...]]

    def terms(self, text: str) -> Sequence[Term]:
        """The meanings in a text, in order; of overlapping expressions only the longest counts. Content words
        come too, under their stem."""
        return _terms(self, text)

    def leaning(self, text: str) -> Counter[str]:
        """How often a text speaks for each meaning, minus how often against it."""
        leans: Counter[str] = Counter()
        for term in self.terms(text):
            leans[term.name] += term.sign
        return leans

    def clause(self, words: list[str]) -> Iterator[Term]:
        """The meanings of one clause."""
        sign, at = 1, 0
        while at < len(words):
            length, found = self._longest(words, at)
            if length <= 1 and _turns(words, at):
                sign, length, found = -1, 1, ()
            yield from (Term(term.name, sign * term.sign) for term in found)
            length = max(length, 1)
            if not any(_turns(words, at + offset) for offset in range(length)):
                yield from (
                    Term(AGENTS.stem(w), sign) for w in words[at : at + length] if not AGENTS.is_small(w)
                )
            at += length

    def _longest(self, words: list[str], at: int) -> tuple[int, tuple[Term, ...]]:
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            if found := self.meanings.get(tuple(AGENTS.stem(word) for word in words[at : at + length])):
                return length, found
        rest = words[at].removeprefix("un")
        if rest != words[at] and (found := self.meanings.get((AGENTS.stem(rest),))):
            return 1, tuple(Term(term.name, -term.sign) for term in found)
        return 0, ()


@lru_cache(maxsize=1 << 14)
def _terms(words: Lexicon, text: str) -> tuple[Term, ...]:
    clauses = ([w for w in AGENTS.tokens(clause) if w not in _PASSED_OVER] for clause in _CLAUSE.split(text))
    return tuple(term for clause in clauses for term in words.clause(clause))


def lexicon(section: Literal["topics", "values", "tools"]) -> Lexicon:
    return _lexicons()[section]


@cache
def scales() -> Mapping[str, tuple[int, tuple[str, ...]]]:
    """Meanings that a number can meet: whether a large (1) or a small (-1) one does, and in which fields."""
    return {
        f"~{topic}": (sign, tuple(fields.split()))
        for sign, kind in ((-1, "low"), (1, "high"))
        for topic, fields in dictionary()["scales"][kind].items()
    }


def when_and_what(statement: str) -> tuple[str, str]:
    """The opening clause that tells when a statement holds, empty for none, and the rest of it."""
    opening = _OPENING.match(statement)
    return (opening[0], statement[opening.end() :]) if opening else ("", statement)


def _turns(words: list[str], at: int) -> bool:
    if tuple(words[at : at + 2]) in _TURNING_PAIRS:
        return True
    if words[at] == "over":
        return any(AGENTS.stem(word) in _PREFERRING for word in words[:at])
    if words[at] == "before":
        return any(word.endswith("ing") for word in words[at + 1 : at + 2])
    return words[at] in _TURNING_WORDS or words[at].endswith("n't")


@cache
def _lexicons() -> Mapping[str, Lexicon]:
    return {
        section: Lexicon(_index(dictionary()[section], mark))
        for section, mark in (("topics", "~"), ("values", "="), ("tools", "="))
    }


def _index(entries: Mapping[str, str], mark: str) -> Mapping[tuple[str, ...], tuple[Term, ...]]:
    """`mark` sets meanings apart from plain words."""
    found: dict[tuple[str, ...], list[Term]] = {}
    for name, words in entries.items():
        alike, _, opposite = words.partition("|")
        for side, sign in ((alike, 1), (opposite, -1)):
            for expression in side.split():
                key = tuple(
                    AGENTS.stem(word) for word in AGENTS.tokens(expression) if word not in _PASSED_OVER
                )
                term = Term(mark + name, sign)
                if term not in found.setdefault(key, []):
                    found[key].append(term)
    return {key: tuple(terms) for key, terms in found.items()}
