"""A pool of rules with all that the user knows of each, prepared once for many questions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from atr_user_sim.interface import PoolRule
from atr_user_sim.lines import Hand, RuleLines, WordLists
from atr_user_sim.offline.statements import Meaning, read_statement

_NO_LINES = RuleLines(hands={})


@dataclass(frozen=True)
class KnownRule:
    """A rule's statement, and its lines and word lists when the user has them."""

    statement: str
    lines: RuleLines

    @property
    def hands(self) -> Sequence[Hand]:
        return tuple(self.lines.hands.values())

    @property
    def about(self) -> WordLists:
        return self.lines.about

    @cached_property
    def meaning(self) -> Meaning:
        return read_statement(self.statement)

    @cached_property
    def asked(self) -> tuple[Meaning, ...]:
        return tuple(Meaning(line) for hand in self.hands for line in hand.asked)

    @cached_property
    def not_asked(self) -> tuple[Meaning, ...]:
        return tuple(Meaning(line) for hand in self.hands for line in hand.not_asked)

    @property
    def texts(self) -> Sequence[str]:
        """All that an encoder reads of it: the statement, the lines, and each word list as one text."""
        lines = [line for hand in self.hands for line in (*hand.asked, *hand.not_asked)]
        return [self.statement, *lines, *self.lists.values()]

    @cached_property
    def lists(self) -> Mapping[str, str]:
        """The word lists that a question is compared with as a whole; empty without lines."""
        about = self.about
        lists = {"decision": about.decision, "situation": about.situation, "beside": about.beside}
        return {name: ", ".join(terms) for name, terms in lists.items()}

    @cached_property
    def stems(self) -> Mapping[str, frozenset[str]]:
        """The stems of each source: the statement, the lines, and the word lists."""
        about = self.about
        return {
            "statement": self.meaning.stems,
            "asked": _union(self.asked),
            "not_asked": _union(self.not_asked),
            "decision": Meaning(" ; ".join(about.decision)).stems,
            "situation": Meaning(" ; ".join((*about.situation, *about.narrow))).stems,
            "beside": Meaning(" ; ".join(about.beside)).stems,
        }

    @cached_property
    def own_stems(self) -> frozenset[str]:
        """All that speaks for the rule."""
        stems = self.stems
        return stems["statement"] | stems["asked"] | stems["decision"] | stems["situation"]

    @cached_property
    def all_stems(self) -> frozenset[str]:
        return frozenset[str]().union(*self.stems.values())


class KnownPool:
    """Raises no error for rules without lines; a pool has lines when every rule of it has."""

    def __init__(self, rules: Sequence[KnownRule]) -> None:
        self.rules = tuple(rules)
        self.has_lines = all(rule.asked for rule in rules)
        self._rules_with = Counter(stem for rule in rules for stem in rule.own_stems)

    def idf(self, stem: str) -> float:
        """The rarer among the rules, the larger."""
        return math.log((len(self.rules) + 1) / (0.5 + self._rules_with[stem]))

    @cached_property
    def all_stems(self) -> frozenset[str]:
        return frozenset[str]().union(*(rule.all_stems for rule in self.rules))

    @cached_property
    def only_others(self) -> Sequence[frozenset[str]]:
        """Per rule what only other rules decide or need."""
        needed = [rule.stems["situation"] | rule.stems["decision"] for rule in self.rules]
        return [
            frozenset[str]().union(*(stems for other, stems in enumerate(needed) if other != number))
            - rule.all_stems
            for number, rule in enumerate(self.rules)
        ]

    @cached_property
    def line_norms(self) -> Mapping[Meaning, float]:
        lines = [line for rule in self.rules for line in (*rule.asked, *rule.not_asked)]
        return {line: math.sqrt(math.fsum(self.idf(s) ** 2 for s in line.stems)) or 1.0 for line in lines}


def known_pool(pool: Sequence[PoolRule], lines: Mapping[str, RuleLines]) -> KnownPool:
    """With `lines` by rule id; they count only when every rule of the pool has some."""
    complete = all(rule.rule_id in lines for rule in pool)
    return KnownPool(
        [KnownRule(rule.canonical_answer, lines[rule.rule_id] if complete else _NO_LINES) for rule in pool]
    )


def _union(meanings: Sequence[Meaning]) -> frozenset[str]:
    return frozenset[str]().union(*(meaning.stems for meaning in meanings))
