"""On which side of its rule's trigger a learning session lies, and what it may choose there.

Inside, a session of a param_id or param_enum rule shows and contradicts no face: objects lack what the faces
decide by, and the value is of no face or left out. A tool_identity rule shows each face's tool once over its
sessions instead. A confirm rule can be neither kept nor broken by a call of the tool, so it stays outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from atr_datagen.plan.model import PlannedRule
from atr_ontology import Parameter, load_ontology

INSIDE, OUTSIDE = "inside", "outside"


def deal_sides(rng: Random, rules: Sequence[PlannedRule]) -> dict[int, str]:
    """Index of every rule with a trigger to the side of its sessions: half of each, an odd one by lot.

    A rule that cannot be inside changes places with the next one outside whose value or object can.
    """
    triggered = [rule.index for rule in rules if rule.trigger]
    odd = len(triggered) % 2 and rng.randint(0, 1)
    inside = set(rng.sample(triggered, len(triggered) // 2 + odd))
    for index in sorted(inside):
        if not fits_inside(rules[index]):
            inside.discard(index)
            later = sorted(triggered, key=lambda other: (other < index, other))
            inside.update([o for o in later if o not in inside and _by_value(rules[o])][:1])
    return {index: INSIDE if index in inside else OUTSIDE for index in triggered}


def uneven(sides: Mapping[str, int]) -> str:
    counts = f"{sides[INSIDE]} direct sessions inside the trigger and {sides[OUTSIDE]} outside"
    return f"{counts}; should be half of each"


def fits_inside(rule: PlannedRule) -> bool:
    return rule.type == "tool_identity" or _by_value(rule)


def _by_value(rule: PlannedRule) -> bool:
    if rule.type == "param_id":
        return True
    parameter = _parameter(rule)
    return parameter is not None and (not parameter.required or bool(_free(rule, parameter)))


def neutral(rule: PlannedRule, drawn: Mapping[str, str]) -> dict[str, str]:
    """What a session inside the trigger of a param_enum rule chooses: a value of a face gives way to one of
    no face, at the place that was drawn, or to none where every value is a face's."""
    values, parameter = dict(drawn), _parameter(rule)
    value = values.get(rule.slot)
    if parameter is None or value not in rule.choices:
        return values
    free = _free(rule, parameter)
    if free:
        values[rule.slot] = free[parameter.enum.index(value) % len(free)]
    else:
        del values[rule.slot]
    return values


def _parameter(rule: PlannedRule) -> Parameter | None:
    """What a param_enum rule binds."""
    tool = load_ontology().tool(rule.tools[0]) if rule.type == "param_enum" else None
    return tool.parameter(rule.parameter) if tool else None


def _free(rule: PlannedRule, parameter: Parameter) -> list[str]:
    return [value for value in parameter.enum if value not in rule.choices]
