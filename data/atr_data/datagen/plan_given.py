"""A persona that was written before the plan, as the plan sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atr_data.datagen.plan_model import Character, PlannedPersona, PlannedRule, PlannedSession, Pull
from atr_data.datagen.source import RuleBlock, Source
from atr_data.datagen.steps import parse_step
from atr_ontology import load_ontology

AS_WRITTEN = "as written"
"""The trigger of a given rule, which only its text tells."""


def given_persona(character: Character, source: Source) -> PlannedPersona:
    keys = [rule.key for rule in source.rules]
    rules = [_rule(index, rule, keys) for index, rule in enumerate(source.rules)]
    learning: list[PlannedSession] = []
    for index, block in enumerate(source.learning):
        steps = [parse_step(text) for text in block.steps]
        rule = keys.index(block.subject) if block.role == "direct" else None
        drawn = {
            slot: str(value)
            for step in steps
            for slot, value in _choices(step.tool, step.arguments, block.know)
        }
        path = tuple(step.tool for step in steps)
        learning.append(
            PlannedSession(index, block.role, block.domain, block.family, path, block.day, rule, drawn)
        )
    return PlannedPersona(character.id, character.sketch, character.given, rules, learning)


def _rule(index: int, rule: RuleBlock, keys: Sequence[str]) -> PlannedRule:
    gold = rule.gold or ("" if rule.type == "param_id" else rule.tool)
    values = candidate_rows(rule)
    return PlannedRule(
        index=index,
        domain=rule.domain,
        type=rule.type,
        slot=rule.bind,
        gold=gold,
        blind=rule.blind or "",
        candidates=len(values) if rule.type == "param_id" else 0,
        pulls=realised_pulls(rule),
        pair=rule.pair or "",
        trigger=AS_WRITTEN,
        sibling=keys.index(rule.sibling) if rule.sibling else None,
        pinned=bool(rule.pin),
        mirrored=rule.mirror is not None,
    )


def candidate_rows(rule: RuleBlock) -> list[dict[str, Any]]:
    """The rows of the pool that has tags, as attributes with their tag; none for other rules."""
    for pool in (rule.test, *rule.test.also):
        for columns in pool.pools.values():
            if isinstance(columns, list) and "tag" in columns:
                return [pool.shared | dict(zip(columns, row, strict=True)) for row in pool.rows]
    return []


def realised_pulls(rule: RuleBlock) -> tuple[Pull, ...]:
    """The gold's place on every pull field among all candidates, 1 the most drawing."""
    rows = candidate_rows(rule)
    gold = next((row for row in rows if row["tag"] == "gold"), {})
    found: list[Pull] = []
    for field, direction in rule.test.pulls.items():
        values = [row[field] for row in rows if row.get(field) is not None]
        mine = gold[field]
        ahead = sum(value > mine if direction == "high" else value < mine for value in values)
        found.append(Pull(field, direction, 1 + ahead))
    return tuple(found)


def _choices(tool: str, arguments: Mapping[str, str | None], know: Mapping[str, Any]) -> list[tuple[str, Any]]:
    spec = load_ontology().tool(tool)
    assert spec is not None
    found: list[tuple[str, Any]] = []
    for parameter in spec.parameters:
        if parameter.enum and parameter.name in arguments:
            text = arguments[parameter.name]
            known = text is None or (text in know and text not in parameter.enum)
            found.append((f"{tool}.{parameter.name}", know[text or parameter.name] if known else text))
    return found
