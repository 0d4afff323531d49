"""Which rules the personas carry: one draw, which may fail to come out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from atr_data.episode import CheckType
from atr_datagen.plan.composition import Cell, DrawFailed, deal
from atr_datagen.plan.dealing import FACES, deal_choices, deal_pool, deal_trigger, values_of
from atr_datagen.plan.model import Character, PlannedRule, Slot, confirm_targets, slots
from atr_ontology import DOMAINS

SCOPE_PAIRS = (31, 34)
"""How many scope pairs the whole set has."""
PINNED = 14
"""Confirm rules whose arguments are compared."""
_TRIES = 400
_LANGUAGE: Cell = ("communication", "param_enum")


@dataclass(eq=False, slots=True)
class _Unit:
    """One rule of a persona, or the two of a scope pair: first without slot, then without values."""

    persona: str
    domain: str
    type: CheckType
    size: int
    bilingual: bool = False
    slot: Slot | None = None

    @property
    def cell(self) -> Cell:
        return self.domain, self.type


def draw_rules(rng: Random, characters: Sequence[Character]) -> dict[str, list[PlannedRule]]:
    """The rules of all personas; those of written ones keep their slots, the others are drawn around them.

    Raises DrawFailed when the draw does not come out.
    """
    written = [character for character in characters if character.written]
    drawn = [character for character in characters if not character.written]
    taken = [rule for character in written for rule in character.written]
    hands = deal(rng, drawn, Counter((rule.domain, rule.type) for rule in taken))
    pairs = rng.randint(*SCOPE_PAIRS) - _pairs(written)
    units = _units(drawn, hands, _paired_cells(rng, drawn, hands, pairs))
    found: dict[str, list[PlannedRule]] = {character.id: [] for character in drawn}
    readers: set[str] = set()
    for domain in DOMAINS:
        in_domain = [unit for unit in units if unit.domain == domain]
        confirming = [persona for persona, hand in hands.items() if (domain, "confirm") in hand]
        mine = [rule for rule in taken if rule.domain == domain]
        for persona, rules in _domain_rules(rng, in_domain, confirming, mine, readers).items():
            found[persona] += rules
        readers |= {unit.persona for unit in in_domain if unit.slot and unit.slot.reading}
    _pin(rng, found, PINNED - sum(rule.pinned for rule in taken))
    kept = {c.id: [_dealt(rng, rule) for rule in c.written] for c in written}
    return kept | {persona: _finished(rng, rules) for persona, rules in found.items()}


def _pairs(characters: Sequence[Character]) -> int:
    return sum(len({rule.pair for rule in c.written if rule.pair}) for c in characters)


def _domain_rules(
    rng: Random,
    units: Sequence[_Unit],
    confirming: Sequence[str],
    taken: Sequence[PlannedRule],
    readers: set[str],
) -> dict[str, list[PlannedRule]]:
    """Drawn until every persona with a confirm rule here also binds a tool that may be confirmed."""
    for _ in range(_TRIES):
        _assign_slots(rng, units, taken, readers)
        rules = _valued(rng, units)
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
        if character.languages:
            cells[_LANGUAGE] -= 1
        pairable = (cell for cell, count in cells.items() if count >= 2)
        options[character.id] = sorted(
            c for c in pairable if any(_pairs_on(s, c) for s in slots().get(c, ()))
        )
        rng.shuffle(options[character.id])
        if not options[character.id]:
            raise DrawFailed("scope pairs")
        chosen[character.id] = [options[character.id].pop()]
    more = [c.id for c in characters if options[c.id]]
    missing = pairs - len(characters)
    if missing > len(more):
        raise DrawFailed("scope pairs")
    for persona in rng.sample(more, missing):
        chosen[persona].append(options[persona].pop())
    return chosen


def _pairs_on(slot: Slot, cell: Cell) -> bool:
    """Whether two rules of a persona may share the slot: both have the same three faces or more."""
    domain, kind = cell
    if kind == "param_id":
        return True
    return kind == "param_enum" and not slot.reading and len(values_of(domain, slot)) >= FACES


def _units(
    characters: Sequence[Character],
    hands: Mapping[str, Sequence[Cell]],
    paired: Mapping[str, Sequence[Cell]],
) -> list[_Unit]:
    units: list[_Unit] = []
    for character in characters:
        for cell, count in sorted(Counter(hands[character.id]).items()):
            if cell[1] == "confirm":
                continue
            sizes = [2, *[1] * (count - 2)] if cell in paired[character.id] else [1] * count
            own = [_Unit(character.id, *cell, size) for size in sizes]
            if character.languages and cell == _LANGUAGE:
                own[-1].bilingual = True
            units += own
    return units


def slot_of(rule: PlannedRule) -> Slot:
    """The catalogue's entry for what a rule binds. Raises ValueError when there is none."""
    for slot in slots()[rule.domain, rule.type]:
        if slot.name == rule.slot or (slot.tools and {*rule.tools} <= {*slot.tools}):
            return slot
    raise ValueError(f"no slot in the plan's catalogue for {rule.type} {rule.slot}")


def _assign_slots(
    rng: Random, units: Sequence[_Unit], taken: Sequence[PlannedRule], readers: set[str]
) -> None:
    """Every slot as often as the catalogue says, and once per persona but for pairs."""
    by_cell: dict[Cell, list[_Unit]] = defaultdict(list)
    for unit in units:
        by_cell[unit.cell].append(unit)
    used = Counter(slot_of(rule) for rule in taken if rule.type != "confirm")
    for cell, members in by_cell.items():
        quota = {slot: slot.count - used[slot] for slot in slots()[cell]}
        if not any(_assign_cell(rng, members, dict(quota), readers) for _ in range(_TRIES)):
            raise DrawFailed(f"slots of {cell}")


def _assign_cell(rng: Random, units: Sequence[_Unit], left: dict[Slot, int], readers: set[str]) -> bool:
    had: set[tuple[str, Slot]] = set()
    reads = set(readers)
    for unit in sorted(rng.sample(units, len(units)), key=lambda unit: (-unit.size, not unit.bilingual)):
        options = [
            slot
            for slot, count in left.items()
            if count >= unit.size
            and slot.bilingual == unit.bilingual
            and (unit.persona, slot) not in had
            and (unit.size == 1 or _pairs_on(slot, unit.cell))
            and not (slot.reading and unit.persona in reads)
        ]
        if not options:
            return False
        unit.slot = rng.choices(options, [left[slot] for slot in options])[0]
        left[unit.slot] -= unit.size
        had.add((unit.persona, unit.slot))
        if unit.slot.reading:
            reads.add(unit.persona)
    return True


def _valued(rng: Random, units: Sequence[_Unit]) -> dict[str, list[PlannedRule]]:
    """The rules of the units, those of a pair with the same faces."""
    rules: dict[str, list[PlannedRule]] = defaultdict(list)
    for unit in units:
        assert unit.slot is not None
        pair = unit.slot.name if unit.size == 2 else ""
        rule = PlannedRule(0, unit.domain, unit.type, unit.slot.name, pair=pair)
        rules[unit.persona] += [deal_choices(rng, rule, unit.slot)] * unit.size
    return rules


def _add_confirms(
    rng: Random,
    personas: Sequence[str],
    rules: Mapping[str, list[PlannedRule]],
    taken: Sequence[PlannedRule],
) -> bool:
    """A confirm rule goes on a tool that a rule of the persona with a named object binds, the tools used
    least first. False when there is no such tool."""
    uses = Counter(rule.slot for rule in taken if rule.type == "confirm")
    options = {
        persona: [
            (tool, rule.domain)
            for rule in rules[persona]
            if rule.type != "param_id"
            for tool in rule.tools
            if tool in confirm_targets()[rule.domain]
        ]
        for persona in personas
    }
    for persona in sorted(rng.sample(personas, len(personas)), key=lambda name: len(options[name])):
        if not options[persona]:
            return False
        mine = rng.sample(options[persona], len(options[persona]))
        tool, domain = min(mine, key=lambda option: uses[option[0]])
        uses[tool] += 1
        rules[persona].append(PlannedRule(0, domain, "confirm", tool))
    return True


def _pin(rng: Random, rules: Mapping[str, list[PlannedRule]], count: int) -> None:
    confirms = [(own, i) for own in rules.values() for i, rule in enumerate(own) if rule.type == "confirm"]
    for own, index in rng.sample(confirms, count):
        own[index] = replace(own[index], pinned=True)


def _dealt(rng: Random, rule: PlannedRule) -> PlannedRule:
    """What a written rule binds, with faces and places."""
    if rule.type == "confirm":
        return rule
    return (
        deal_pool(rng, rule, slot_of(rule))
        if rule.type == "param_id"
        else deal_choices(rng, rule, slot_of(rule))
    )


def _finished(rng: Random, rules: Sequence[PlannedRule]) -> list[PlannedRule]:
    """In domain order and numbered, with pools, siblings and triggers."""
    order = rng.sample(rules, len(rules))
    order.sort(key=lambda rule: (DOMAINS.index(rule.domain), rule.pair))
    found: list[PlannedRule] = []
    for index, rule in enumerate(order):
        slot = None if rule.type == "confirm" else slot_of(rule)
        whole = deal_pool(rng, rule, slot) if slot and rule.type == "param_id" else rule
        found.append(deal_trigger(rng, replace(whole, index=index), slot))
    for rule in [rule for rule in found if rule.type == "confirm"]:
        others = [r.index for r in found if rule.slot in r.tools and r.type not in ("confirm", "param_id")]
        found[rule.index] = replace(rule, sibling=rng.choice(others))
    return found
