"""Which rules the personas carry: one draw, which may fail to come out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from atr_data.episode import CheckType
from atr_datagen.plan.composition import Cell, DrawFailed, deal
from atr_datagen.plan.model import (
    Character,
    PlannedRule,
    Pull,
    Slot,
    confirm_targets,
    slots,
    triggers,
)
from atr_ontology import DOMAINS, load_ontology

SCOPE_PAIRS = (31, 34)
"""How many scope pairs the whole set has."""
CANDIDATES = {4: 1, 5: 2, 6: 1}
"""Sizes of pools, with their weights."""
PINNED = 14
"""Confirm rules whose arguments are compared."""
MIRRORED = 3
"""Rules with a second face, per drawn persona of the mini split."""
MAJORITY = {"param_enum": 0.46, "tool_identity": 0.60}
"""What always betting on the most frequent gold of a slot may win at most."""
VALUE_CAP, RIVAL_CAP, CAPPED_FROM = 0.50, 0.65, 4
"""No value holds more of a slot, and no tool more of a row of rivals; smaller groups are left to chance."""
TRIGGERED = 0.55
"""How often a rule names a trigger that is neither confirm nor of a pair."""
_TRIES = 400
_LANGUAGE: Cell = ("communication", "param_enum")


@dataclass(eq=False, slots=True)
class _Unit:
    """One rule of a persona, or the two of a scope pair: first without slot, then without values."""

    persona: str
    domain: str
    type: CheckType
    size: int
    slot: Slot | None = None

    @property
    def cell(self) -> Cell:
        return self.domain, self.type


def draw_rules(
    rng: Random, characters: Sequence[Character], taken: Sequence[PlannedRule], mini: Sequence[str]
) -> dict[str, list[PlannedRule]]:
    """The rules of the characters, around those already taken.

    Raises DrawFailed when the draw does not come out.
    """
    hands = deal(rng, characters, Counter((rule.domain, rule.type) for rule in taken))
    pairs = rng.randint(*SCOPE_PAIRS) - len({rule.pair for rule in taken if rule.pair})
    units = _units(hands, _paired_cells(rng, characters, hands, pairs))
    found: dict[str, list[PlannedRule]] = {character.id: [] for character in characters}
    for domain in DOMAINS:
        in_domain = [unit for unit in units if unit.domain == domain]
        confirming = [persona for persona, hand in hands.items() if (domain, "confirm") in hand]
        drawn = _domain_rules(rng, in_domain, confirming, [rule for rule in taken if rule.domain == domain])
        for persona, rules in drawn.items():
            found[persona] += rules
    _check_majorities([*taken, *(rule for rules in found.values() for rule in rules)])
    _pin(rng, found, PINNED - sum(rule.pinned for rule in taken))
    return {persona: _finished(rng, rules, persona in mini) for persona, rules in found.items()}


def _domain_rules(
    rng: Random, units: Sequence[_Unit], confirming: Sequence[str], taken: Sequence[PlannedRule]
) -> dict[str, list[PlannedRule]]:
    """Drawn until every persona with a confirm rule here also binds a tool that may be confirmed."""
    for _ in range(_TRIES):
        _assign_slots(rng, units, taken)
        rules = _valued(rng, units, taken)
        if _add_confirms(rng, confirming, rules, taken):
            return rules
    raise DrawFailed(f"confirm in {units[0].domain}")


def _paired_cells(
    rng: Random, characters: Sequence[Character], hands: Mapping[str, Sequence[Cell]], pairs: int
) -> dict[str, list[Cell]]:
    """The cells in which a persona has a scope pair: one or two."""
    options: dict[str, list[Cell]] = {}
    chosen: dict[str, list[Cell]] = {}
    for character in characters:
        cells = Counter(hands[character.id])
        pairable = (cell for cell, count in cells.items() if count >= 2 and cell != _LANGUAGE)
        options[character.id] = sorted(c for c in pairable if c[1] in ("param_id", "param_enum"))
        rng.shuffle(options[character.id])
        chosen[character.id] = [_LANGUAGE] if character.languages else []
    for character in characters:
        if not chosen[character.id]:
            if not options[character.id]:
                raise DrawFailed("scope pairs")
            chosen[character.id].append(options[character.id].pop())
    more = [c.id for c in characters if options[c.id]]
    missing = pairs - len(characters)
    if missing > len(more):
        raise DrawFailed("scope pairs")
    for persona in rng.sample(more, missing):
        chosen[persona].append(options[persona].pop())
    return chosen


def _units(hands: Mapping[str, Sequence[Cell]], paired: Mapping[str, Sequence[Cell]]) -> list[_Unit]:
    units: list[_Unit] = []
    for persona, hand in hands.items():
        for cell, count in sorted(Counter(hand).items()):
            if cell[1] != "confirm":
                sizes = [2, *[1] * (count - 2)] if cell in paired[persona] else [1] * count
                units += [_Unit(persona, *cell, size) for size in sizes]
    return units


def slot_of(rule: PlannedRule) -> Slot:
    """The catalogue's entry for what a rule binds. Raises ValueError when there is none."""
    for slot in slots()[rule.domain, rule.type]:
        if slot.name == rule.slot or rule.tool in slot.tools:
            return slot
    raise ValueError(f"no slot in the plan's catalogue for {rule.type} {rule.slot}")


def _assign_slots(rng: Random, units: Sequence[_Unit], taken: Sequence[PlannedRule]) -> None:
    """Every slot as often as the catalogue says, and once per persona but for pairs."""
    by_cell: dict[Cell, list[_Unit]] = defaultdict(list)
    for unit in units:
        by_cell[unit.cell].append(unit)
    used = Counter(slot_of(rule) for rule in taken if rule.type != "confirm")
    for cell, members in by_cell.items():
        quota = {slot: slot.count - used[slot] for slot in slots()[cell]}
        if not any(_assign_cell(rng, members, dict(quota)) for _ in range(_TRIES)):
            raise DrawFailed(f"slots of {cell}")


def _assign_cell(rng: Random, units: Sequence[_Unit], left: dict[Slot, int]) -> bool:
    had: set[tuple[str, Slot]] = set()
    for unit in sorted(rng.sample(units, len(units)), key=lambda unit: -unit.size):
        bilingual = unit.cell == _LANGUAGE and unit.size == 2
        options = [
            slot
            for slot, count in left.items()
            if count >= unit.size and slot.bilingual == bilingual and (unit.persona, slot) not in had
        ]
        if not options:
            return False
        unit.slot = rng.choices(options, [left[slot] for slot in options])[0]
        left[unit.slot] -= unit.size
        had.add((unit.persona, unit.slot))
    return True


def _valued(
    rng: Random, units: Sequence[_Unit], taken: Sequence[PlannedRule]
) -> dict[str, list[PlannedRule]]:
    """Draws the golds, slot by slot."""
    by_slot: dict[Slot, list[_Unit]] = defaultdict(list)
    for unit in units:
        assert unit.slot is not None
        by_slot[unit.slot].append(unit)
    rules: dict[str, list[PlannedRule]] = defaultdict(list)
    for slot, members in by_slot.items():
        known = [rule.gold for rule in taken if rule.type != "confirm" and slot_of(rule) is slot]
        for unit, golds in zip(members, _draw_golds(rng, slot, members, known), strict=True):
            for gold in golds:
                rules[unit.persona].append(_rule(rng, unit, slot, gold))
    return rules


def _draw_golds(rng: Random, slot: Slot, units: Sequence[_Unit], known: Sequence[str]) -> list[list[str]]:
    """One gold per rule, independent of the others; drawn anew when one holds too much of the slot."""
    kind = units[0].type
    if kind == "param_id":
        return [[""] * unit.size for unit in units]
    options = slot.tools if kind == "tool_identity" else _values(units[0].domain, slot)
    cap = RIVAL_CAP if kind == "tool_identity" else VALUE_CAP
    while True:
        golds = [rng.sample(options, unit.size) for unit in units]
        counts = Counter([*known, *(gold for own in golds for gold in own)])
        if counts.total() < CAPPED_FROM or max(counts.values()) <= cap * counts.total():
            return golds


def _values(domain: str, slot: Slot) -> Sequence[str]:
    if slot.values:
        return slot.values
    tool, _, name = slot.name.partition(".")
    parameter = next(t for t in load_ontology().domain(domain).tools if t.name == tool).parameter(name)
    assert parameter is not None
    return parameter.enum


def _rule(rng: Random, unit: _Unit, slot: Slot, gold: str) -> PlannedRule:
    pair = slot.name if unit.size == 2 else ""
    match unit.type:
        case "param_id":
            size = rng.choices(list(CANDIDATES), list(CANDIDATES.values()))[0]
            fields = sorted(rng.sample(sorted(slot.pulls), 2))
            pulls = tuple(Pull(field, slot.pulls[field], rng.randint(2, size)) for field in fields)
            return PlannedRule(0, unit.domain, unit.type, slot.name, candidates=size, pulls=pulls, pair=pair)
        case "param_enum":
            others = [value for value in _values(unit.domain, slot) if value != gold]
            blind = slot.stock if gold != slot.stock else rng.choice(others)
            return PlannedRule(0, unit.domain, unit.type, slot.name, gold, blind, pair=pair)
        case _:
            rival = rng.choice([tool for tool in slot.tools if tool != gold])
            return PlannedRule(0, unit.domain, unit.type, gold, gold, rival)


def _add_confirms(
    rng: Random,
    personas: Sequence[str],
    rules: Mapping[str, list[PlannedRule]],
    taken: Sequence[PlannedRule],
) -> bool:
    """A confirm rule goes on a tool that another rule of the persona binds, the tools used least first.

    False when there is no such tool.
    """
    uses = Counter(rule.tool for rule in taken if rule.type == "confirm")
    options = {
        persona: [rule for rule in rules[persona] if rule.tool in confirm_targets()[rule.domain]]
        for persona in personas
    }
    for persona in sorted(rng.sample(personas, len(personas)), key=lambda name: len(options[name])):
        if not options[persona]:
            return False
        sibling = min(rng.sample(options[persona], len(options[persona])), key=lambda rule: uses[rule.tool])
        tool = sibling.tool
        uses[tool] += 1
        rules[persona].append(PlannedRule(0, sibling.domain, "confirm", tool, tool, tool))
    return True


def _check_majorities(rules: Sequence[PlannedRule]) -> None:
    for kind, bound in MAJORITY.items():
        golds: dict[Slot, Counter[str]] = defaultdict(Counter)
        for rule in rules:
            if rule.type == kind:
                golds[slot_of(rule)][rule.gold] += 1
        won = sum(max(counts.values()) for counts in golds.values())
        if won > bound * sum(counts.total() for counts in golds.values()):
            raise DrawFailed(f"majority of {kind}")


def _pin(rng: Random, rules: Mapping[str, list[PlannedRule]], count: int) -> None:
    confirms = [(own, i) for own in rules.values() for i, rule in enumerate(own) if rule.type == "confirm"]
    for own, index in rng.sample(confirms, count):
        own[index] = replace(own[index], pinned=True)


def _finished(rng: Random, rules: Sequence[PlannedRule], mirrored: bool) -> list[PlannedRule]:
    """In domain order and numbered, with siblings, triggers and second faces."""
    order = rng.sample(rules, len(rules))
    order.sort(key=lambda rule: (DOMAINS.index(rule.domain), rule.pair))
    found = [_triggered(rng, replace(rule, index=index)) for index, rule in enumerate(order)]
    for rule in [rule for rule in found if rule.type == "confirm"]:
        others = [r.index for r in found if r.tool == rule.tool and r is not rule]
        found[rule.index] = replace(rule, sibling=rng.choice(others))
    if mirrored:
        single = [r.index for r in found if r.type != "confirm" and (not r.pair or r.type == "param_id")]
        for index in rng.sample(single, MIRRORED):
            found[index] = replace(found[index], mirrored=True)
    return found


def _triggered(rng: Random, rule: PlannedRule) -> PlannedRule:
    named = rule.pair or rule.type == "confirm" or rng.random() < TRIGGERED
    bilingual = rule.type == "param_enum" and slot_of(rule).bilingual
    return replace(rule, trigger="person" if bilingual else rng.choice(triggers())) if named else rule
