"""Draws the composition of the whole dataset: every rule, every learning session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from atr_data.errors import DataError
from atr_data.files import write_atomic
from atr_datagen.gates.report import GateResult
from atr_datagen.plan.bounds import check_plan
from atr_datagen.plan.composition import DrawFailed
from atr_datagen.plan.learning import Usage, draw_learning
from atr_datagen.plan.model import Character, Plan, PlannedPersona, mini_split, roster
from atr_datagen.plan.rules import draw_rules
from atr_datagen.plan.shape import check_shape, keeps_shape
from atr_datagen.plan.table import plan_text

ATTEMPTS = 400


def draw_plan(seed: int, personas: Sequence[Character] | None = None) -> Plan:
    """Draws until a plan keeps all bounds of the whole set. The same seed gives the same plan.

    Raises DataError when no draw keeps the bounds.
    """
    characters = roster() if personas is None else personas
    for attempt in range(ATTEMPTS):
        try:
            plan = _draw(Random(f"{seed}:{attempt}"), characters, seed)
        except DrawFailed:
            continue
        if all(gate.ok for gate in check_plan(plan)) and keeps_shape(plan):
            return plan
    raise DataError(f"none of {ATTEMPTS} draws with seed {seed} keeps the bounds; try another seed")


def _draw(rng: Random, characters: Sequence[Character], seed: int) -> Plan:
    """Raises DrawFailed when it does not come out."""
    rules = draw_rules(rng, characters)
    usage = Usage()
    odd = [character.id for character in characters if character.rules % 2]
    more_near = set(rng.sample(odd, len(odd) // 2))
    personas: list[PlannedPersona] = []
    for character in characters:
        own = rules[character.id]
        near = character.rules // 2 + (character.id in more_near)
        far = character.rules - near
        learning = draw_learning(rng, own, near, far, usage, character.familiar)
        personas.append(PlannedPersona(character.id, character.sketch, own, learning))
    return Plan(seed, personas, mini_split())


def write_plan(path: Path, seed: int) -> Plan:
    """Draws the plan and writes it as a table. Raises DataError; nothing is written then."""
    plan = draw_plan(seed)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, plan_text(plan))
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=path) from error
    return plan


def render_plan_check(plan: Plan) -> list[GateResult]:
    """All that a plan must hold: what can be read off it, and what it leads to expect of the episodes."""
    return [*check_plan(plan), *check_shape(plan)]
