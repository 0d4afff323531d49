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
from atr_datagen.plan.given import given_persona
from atr_datagen.plan.learning import Usage, draw_learning
from atr_datagen.plan.model import Character, Plan, PlannedPersona, mini_split, roster
from atr_datagen.plan.rules import draw_rules
from atr_datagen.plan.shape import check_shape, keeps_shape
from atr_datagen.plan.table import plan_text
from atr_datagen.source.grammar import Source
from atr_datagen.source.reading import SourceFile

ATTEMPTS = 400


def draw_plan(seed: int, given: Sequence[Source], personas: Sequence[Character] | None = None) -> Plan:
    """Draws until a plan keeps all bounds of the whole set. The same seed and sources give the same plan.

    `given` are the sources of the personas of the roster that were written first and are drawn around.
    Raises DataError when one of them is missing, or when no draw keeps the bounds.
    """
    characters = roster() if personas is None else personas
    sources = {source.persona.id: source for source in given}
    known: list[PlannedPersona] = []
    for character in (c for c in characters if c.given):
        if character.id not in sources:
            raise DataError(f"the plan is drawn around {character.id}, whose source is not here")
        known.append(given_persona(character, sources[character.id]))
    for attempt in range(ATTEMPTS):
        try:
            plan = _draw(Random(f"{seed}:{attempt}"), characters, known, seed)
        except DrawFailed:
            continue
        if all(gate.ok for gate in check_plan(plan)) and keeps_shape(plan):
            return plan
    raise DataError(f"none of {ATTEMPTS} draws with seed {seed} keeps the bounds; try another seed")


def _draw(rng: Random, characters: Sequence[Character], given: Sequence[PlannedPersona], seed: int) -> Plan:
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
        own = rules[character.id]
        near = character.rules // 2 + (character.id in more_near)
        learning = draw_learning(rng, own, near, character.rules - near, usage)
        known[character.id] = PlannedPersona(character.id, character.sketch, own, learning)
    return Plan(seed, [known[character.id] for character in characters], mini_split())


def write_plan(path: Path, seed: int, sources: Path) -> Plan:
    """Draws the plan around the given personas in a folder of sources and writes it as a table.

    Raises DataError, or SourceError for a given persona that cannot be read; nothing is written then.
    """
    given = [sources / f"{character.id}.yaml" for character in roster() if character.given]
    plan = draw_plan(seed, [SourceFile.read(file).source for file in given if file.is_file()])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, plan_text(plan))
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=path) from error
    return plan


def render_plan_check(plan: Plan) -> list[GateResult]:
    """All that a plan must hold: what can be read off it, and what it leads to expect of the episodes."""
    return [*check_plan(plan), *check_shape(plan)]
