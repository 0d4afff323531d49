"""Draws the composition of the whole dataset: every rule, every learning session."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from random import Random

from atr_data.datagen.plan_composition import DrawFailed
from atr_data.datagen.plan_given import given_persona
from atr_data.datagen.plan_learning import Usage, draw_learning
from atr_data.datagen.plan_model import Character, Plan, PlannedPersona, mini_split, roster
from atr_data.datagen.plan_rules import draw_rules
from atr_data.datagen.source import Source


def one_draw(rng: Random, characters: Sequence[Character], given: Sequence[PlannedPersona], seed: int) -> Plan:
    """Raises DrawFailed when it does not come out."""
    known = {persona.id: persona for persona in given}
    drawn = [character for character in characters if character.id not in known]
    rules = draw_rules(rng, drawn, [rule for persona in given for rule in persona.rules], mini_split())
    usage = Usage()
    for persona in given:
        for session in persona.learning:
            usage.add(session.family, session.path)
    odd = [character.id for character in drawn if character.rules % 2]
    more_near = set(rng.sample(odd, len(odd) // 2))
    for character in drawn:
        half = character.rules // 2
        near = half + (character.id in more_near)
        learning = draw_learning(rng, rules[character.id], near, character.rules - near, usage)
        known[character.id] = PlannedPersona(
            character.id, character.sketch, False, rules[character.id], learning
        )
    return Plan(seed, [known[character.id] for character in characters], mini_split())
