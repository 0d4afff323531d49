"""Questions with the pool and the knowledge against which they are asked, from all labelled data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from atr_user_sim.calibration.folds import of_hands
from atr_user_sim.calibration.records import DATA, agent_questions, persona_lines, questions, statements
from atr_user_sim.interface import PoolRule
from atr_user_sim.lines import RuleLines
from atr_user_sim.offline.knowledge import KnownPool, known_pool

AGENT = "agent: "
"""Begins the kind of the questions in an agent's voice, all of one writer."""

OWN = "own"
"""The group of the earlier questions, which come without lines."""


@dataclass(frozen=True)
class Pool:
    """Statements of one persona with the lines of some hands. `group` is the hand that wrote the statements:
    whoever leaves it out leaves out all its personas, and all who wrote questions on them."""

    persona: str
    group: str
    rules: tuple[PoolRule, ...]
    lines: Mapping[str, RuleLines]

    @cached_property
    def known(self) -> KnownPool:
        return known_pool(self.rules, self.lines)


@dataclass(frozen=True)
class Example:
    """`gold` is the number of the rule in the pool, None when nothing answers. `kind` is `line` for what one
    hand wrote as a line and the other hand's lines shall recognise."""

    pool: Pool
    question: str
    gold: int | None
    kind: str
    writer: str


def pools() -> dict[str, tuple[PoolRule, ...]]:
    found: dict[str, list[PoolRule]] = {}
    for record in statements():
        found.setdefault(record.persona, []).append(PoolRule(record.rule, record.statement))
    return {persona: tuple(rules) for persona, rules in found.items()}


def asked_questions(hands: str) -> list[Example]:
    """The labelled questions. `hands` says whose lines the user has: `none`, `first` (the hand that wrote the
    statements, and no question) or `both`."""
    known = _pools(hands)
    return [
        Example(pool, q.question, _number(pool, q.gold), f"{voice}{q.kind}", q.writer)
        for voice, records in (("", questions()), (AGENT, agent_questions()))
        for q in records
        for pool in (known[q.persona],)
    ]


def lines_as_questions(*, with_lines: bool) -> Iterator[Example]:
    """Each line as a question, to a user who has only the other hand's lines, or none."""
    lines = persona_lines()
    other = {hand: _pools(hand) if with_lines else _pools("none") for hand in ("first", "second")}
    for persona, rules in pools().items():
        for rule in rules:
            for known, hand in zip(("second", "first"), lines[rule.rule_id].hands.values(), strict=True):
                pool = other[known][persona]
                writer = f"{pool.group}:{known}"
                yield from (
                    Example(pool, line, _number(pool, rule.rule_id), "line", writer) for line in hand.asked
                )
                yield from (Example(pool, line, None, "line", writer) for line in hand.not_asked)


def own_questions() -> list[Example]:
    """The earlier questions of one writer: other personas, no lines."""
    found: list[Example] = []
    for line in (DATA / "own_classifier.jsonl").read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        rules = tuple(PoolRule(rule["rule_id"], rule["statement"]) for rule in raw["rule_pool"])
        pool = _own_pool(rules)
        gold = _number(pool, raw["gold_rule_id"])
        found.append(Example(pool, raw["rule_question_span"], gold, OWN, OWN))
    return found


def _pools(hands: str) -> dict[str, Pool]:
    groups = {record.persona: record.writer for record in statements()}
    lines = {rule: of_hands(entry, hands) for rule, entry in persona_lines().items()}
    found: dict[str, Pool] = {}
    for persona, rules in pools().items():
        known = {} if hands == "none" else {rule.rule_id: lines[rule.rule_id] for rule in rules}
        found[persona] = Pool(persona, groups[persona], rules, known)
    return found


@cache
def _own_pool(rules: tuple[PoolRule, ...]) -> Pool:
    return Pool(rules[0].rule_id.split("_")[0], OWN, rules, {})


def _number(pool: Pool, gold: str | None) -> int | None:
    return None if gold is None else [rule.rule_id for rule in pool.rules].index(gold)
