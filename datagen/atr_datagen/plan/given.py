"""A persona source as the plan sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from atr_datagen.plan.dealing import PULL
from atr_datagen.plan.model import PlannedRule, PlannedSession, Pull
from atr_datagen.source.grammar import FaceBlock, RuleBlock, Source
from atr_datagen.source.predicates import beats, holds, items, parse_predicate
from atr_datagen.source.steps import Step, parse_step
from atr_ontology import load_ontology

AS_WRITTEN = "as written"
"""The trigger of a rule that only its text tells."""


def planned_rule(source: Source, index: int) -> PlannedRule:
    rule = source.rules[index]
    choices = [choice for face in rule.faces if (choice := rule.choice(face)) is not None]
    return PlannedRule(
        index=index,
        domain=rule.domain,
        type=rule.type,
        slot=rule.slot,
        faces=len(rule.faces),
        choices=tuple(choices),
        blind=rule.blind_choice or "",
        candidates=len(_candidates(rule)),
        pulls=tuple(_pulls(rule)),
        limits=tuple(_limits(rule)),
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
        rule=_rule_index(source, block.subject),
        trigger=block.where or "",
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
    golds = [_golds(rule, face, rows) for face in rule.faces]
    for field, direction in rule.test.pulls.items():
        ranks = [
            1 + sum(beats(row, gold, field, direction) for row in rows) for own in golds for gold in own[:1]
        ]
        yield Pull(field, direction, tuple(ranks))


def _golds(rule: RuleBlock, face: FaceBlock, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    wanted = [parse_predicate(text) for text in (*rule.test.must, *face.rule_is)]
    return [row for row in rows if holds(wanted, row)]


def _limits(rule: RuleBlock) -> Iterator[str]:
    """For each row that fails a limit the face whose deciding values it repeats, by its number, or `pull`."""
    faces = [[parse_predicate(text) for text in face.rule_is] for face in rule.faces]
    for row in _candidates(rule):
        if row["tag"] == "limit":
            met = [str(number) for number, rule_is in enumerate(faces, start=1) if holds(rule_is, row)]
            yield met[0] if met else PULL


def _choices(step: Step, know: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The enum values that a step chooses, by `tool.parameter`."""
    tool = load_ontology().tool(step.tool)
    for parameter in tool.parameters if tool else ():
        if parameter.enum and parameter.name in step.arguments:
            text = step.arguments[parameter.name] or parameter.name
            value = text.strip("'\"") if text.strip("'\"") in parameter.enum else know.get(text)
            yield f"{step.tool}.{parameter.name}", str(value)
