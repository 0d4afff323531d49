"""What chance deals to a rule once its slot is known: faces, blind choice, ranks, values of limit rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from atr_datagen.plan.model import PlannedRule, Pull, Slot, triggers
from atr_ontology import load_ontology

FACES = 3
"""Faces of a rule where its slot has as many."""
CANDIDATES = {5: 1, 6: 2, 7: 1}
"""Sizes of pools, with their weights. The best place on a pull field is the pull row's."""
TRIGGERED = 0.55
"""How often a rule names a trigger that is neither confirm nor of a pair."""
PULL = "pull"


def values_of(domain: str, slot: Slot) -> Sequence[str]:
    """The enum values that a rule on the slot may ask for."""
    if slot.values:
        return slot.values
    tool, _, name = slot.name.partition(".")
    parameter = next(t for t in load_ontology().domain(domain).tools if t.name == tool).parameter(name)
    assert parameter is not None
    return parameter.enum


def deal_choices(rng: Random, rule: PlannedRule, slot: Slot) -> PlannedRule:
    """The values or tools of the faces, those that the rule already has among them, and the blind choice.

    What a rule-blind agent takes of an enum is the stock value, of rivals any: a face or none.
    """
    kept = list(rule.choices)
    if rule.type == "tool_identity":
        row = slot.tools
        count = len(kept) or rng.randint(2, min(FACES, len(row)))
        chosen = kept or rng.sample(row, count)
        blind = rng.choice(row)
    elif rule.type == "param_enum":
        values = values_of(rule.domain, slot)
        others = [value for value in values if value not in kept]
        chosen = kept + rng.sample(others, min(FACES, len(values)) - len(kept))
        rng.shuffle(chosen)
        blind = slot.stock
    else:
        return rule
    name = " ".join(chosen) if rule.type == "tool_identity" else rule.slot
    return replace(rule, slot=name, choices=tuple(chosen), faces=len(chosen), blind=blind)


def deal_pool(rng: Random, rule: PlannedRule, slot: Slot) -> PlannedRule:
    """The size of the pool, the places of the faces' golds, and what the limit rows repeat."""
    size = rng.choices(list(CANDIDATES), list(CANDIDATES.values()))[0]
    fields = sorted(rng.sample(sorted(slot.pulls), 2))
    pulls = tuple(
        Pull(field, slot.pulls[field], tuple(rng.sample(range(2, size + 1), FACES))) for field in fields
    )
    faces = [str(number + 1) for number in range(FACES)]
    limits = [rng.choice([*faces, PULL])] if size == min(CANDIDATES) else rng.sample(faces, 2)
    return replace(rule, faces=FACES, candidates=size, pulls=pulls, limits=tuple(limits))


def deal_trigger(rng: Random, rule: PlannedRule, slot: Slot | None) -> PlannedRule:
    if rule.trigger:
        return rule
    named = rule.pair or rule.type == "confirm" or rng.random() < TRIGGERED
    if not named:
        return rule
    return replace(rule, trigger="person" if slot and slot.bilingual else rng.choice(triggers()))
