"""A persona source as the plan sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from atr_datagen.plan.model import Character, PlannedPersona, PlannedRule, PlannedSession, Pull
from atr_datagen.source.grammar import RuleBlock, Source
from atr_datagen.source.predicates import beats, items
from atr_datagen.source.steps import Step, parse_step
from atr_ontology import load_ontology

AS_WRITTEN = "as written"
"""The trigger of a rule that only its text tells."""


def given_persona(character: Character, source: Source) -> PlannedPersona:
    """Raises ValueError for a step that is none."""
    rules = [planned_rule(source, index) for index in range(len(source.rules))]
    learning = [planned_session(source, index) for index in range(len(source.learning))]
    return PlannedPersona(character.id, character.sketch, rules, learning)


def planned_rule(source: Source, index: int) -> PlannedRule:
    rule = source.rules[index]
    return PlannedRule(
        index=index,
        domain=rule.domain,
        type=rule.type,
        slot=rule.slot,
        blind=rule.blind_choice or "",
        candidates=len(_candidates(rule)),
        pulls=tuple(_pulls(rule)),
        pair=rule.pair or "",
        trigger=AS_WRITTEN,
        sibling=_rule_index(source, rule.sibling),
        pinned=bool(rule.pin),
    )


def planned_session(source: Source, index: int) -> PlannedSession:
    block = source.learning[index]
    steps = [parse_step(text) for text in block.steps]
    return PlannedSession(
        index=index,
        role=block.role,
        domain=block.domain,
        family=block.family,
        path=tuple(step.tool for step in steps),
        day=block.day,
        rule=_rule_index(source, block.subject) if block.role == "direct" else None,
        drawn={slot: value for step in steps for slot, value in _choices(step, block.know)},
    )


def _rule_index(source: Source, key: str | None) -> int | None:
    return next((index for index, rule in enumerate(source.rules) if rule.key == key), None)


def _candidates(rule: RuleBlock) -> list[dict[str, Any]]:
    """The rows of the pool that has tags, with their attributes; none for rules that bind no id."""
    for pool in (rule.test, *rule.test.also):
        for columns in pool.pools.values():
            names = items(columns)
            if "tag" in names:
                return [pool.shared | dict(zip(names, row, strict=True)) for row in pool.rows]
    return []


def _pulls(rule: RuleBlock) -> Iterator[Pull]:
    rows = _candidates(rule)
    gold = next((row for row in rows if row["tag"] == "face"), dict[str, Any]())
    for field, direction in rule.test.pulls.items():
        ahead = sum(beats(row, gold, field, direction) for row in rows)
        yield Pull(field, direction, 1 + ahead)


def _choices(step: Step, know: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The enum values that a step chooses, by `tool.parameter`."""
    tool = load_ontology().tool(step.tool)
    for parameter in tool.parameters if tool else ():
        if parameter.enum and parameter.name in step.arguments:
            text = step.arguments[parameter.name] or parameter.name
            value = text.strip("'\"") if text.strip("'\"") in parameter.enum else know.get(text)
            yield f"{step.tool}.{parameter.name}", str(value)
