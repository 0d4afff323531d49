"""How many rules of which domain and check type each persona carries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random

from atr_data.episode import CheckType
from atr_data.errors import DataError
from atr_datagen.plan.model import Character, confirm_targets, slots
from atr_ontology import DOMAINS

Cell = tuple[str, CheckType]

_TABLE: Mapping[CheckType, tuple[int, ...]] = {
    "param_id": (22, 24, 26, 14, 12, 18),
    "param_enum": (14, 12, 12, 12, 18, 14),
    "tool_identity": (9, 8, 8, 14, 12, 11),
    "confirm": (4, 4, 4, 5, 4, 3),
}
COMPOSITION: Mapping[Cell, int] = {
    (domain, kind): count
    for kind, counts in _TABLE.items()
    for domain, count in zip(DOMAINS, counts, strict=True)
}
"""Rules of the whole set per domain and check type."""

_PER_DOMAIN = (2, 3)
_PER_TYPE: Mapping[CheckType, tuple[int, int]] = {
    "param_id": (5, 7),
    "param_enum": (3, 6),
    "tool_identity": (2, 4),
    "confirm": (1, 2),
}
_MAX_SWAPS = 20_000
_PAIRED = frozenset((domain, "param_enum") for domain in DOMAINS if domain != "travel")
"""Cells with slots of three faces and more, on which a persona may have two rules."""


class DrawFailed(Exception):
    """A draw did not come out; the next one may."""


def deal(rng: Random, characters: Sequence[Character], taken: Mapping[Cell, int]) -> dict[str, list[Cell]]:
    """Deals what the given personas leave of the table, then swaps until every hand suits its persona.

    Raises DrawFailed when it never does.
    """
    deck = [cell for cell, count in COMPOSITION.items() for _ in range(count - taken.get(cell, 0))]
    if len(deck) != sum(character.rules for character in characters):
        raise DataError(
            f"{len(deck)} rules are left for {len(characters)} personas; their sizes do not add up"
        )
    rng.shuffle(deck)
    hands: dict[str, list[Cell]] = {}
    for character in characters:
        hands[character.id], deck = deck[: character.rules], deck[character.rules :]
    costs = {c.id: _cost(hands[c.id], c.languages) for c in characters}
    for _ in range(_MAX_SWAPS):
        if not any(costs.values()):
            return hands
        a = rng.choice([c for c in characters if costs[c.id]])
        b = rng.choice([c for c in characters if c is not a])
        i, j = rng.randrange(len(hands[a.id])), rng.randrange(len(hands[b.id]))
        _swap(hands[a.id], i, hands[b.id], j)
        after = _cost(hands[a.id], a.languages), _cost(hands[b.id], b.languages)
        if sum(after) <= costs[a.id] + costs[b.id]:
            costs[a.id], costs[b.id] = after
        else:
            _swap(hands[a.id], i, hands[b.id], j)
    raise DrawFailed("composition")


def _swap(a: list[Cell], i: int, b: list[Cell], j: int) -> None:
    a[i], b[j] = b[j], a[i]


def _cost(hand: Sequence[Cell], bilingual: bool) -> int:
    """How far a hand is from one that a persona can carry."""
    cells = Counter(hand)
    domains, types = Counter(domain for domain, _ in hand), Counter(kind for _, kind in hand)
    cost = sum(_outside(domains[domain], _PER_DOMAIN) for domain in DOMAINS)
    cost += sum(_outside(types[kind], bounds) for kind, bounds in _PER_TYPE.items())
    pairable = sum(count >= 2 for cell, count in cells.items() if cell[1] == "param_id" or cell in _PAIRED)
    cost += max(0, 2 - pairable)
    for (domain, kind), count in cells.items():
        if kind == "confirm":
            cost += count - 1 + (not any(_confirmable(cell) for cell in cells if cell[0] == domain))
    cost += sum(max(0, count - 2) for (_, kind), count in cells.items() if kind == "tool_identity")
    if bilingual:
        cost += max(0, 1 - cells["communication", "param_enum"])
    return cost


@cache
def _confirmable(cell: Cell) -> bool:
    """Whether a rule of the cell may name the object of a tool that another rule wants confirmed."""
    if cell[1] == "param_id":
        return False
    open_to_all = [slot for slot in slots().get(cell, ()) if not slot.bilingual]
    tools = {tool for slot in open_to_all for tool in slot.tools or (slot.name.partition(".")[0],)}
    return not tools.isdisjoint(confirm_targets()[cell[0]])


def _outside(count: int, bounds: tuple[int, int]) -> int:
    return max(0, bounds[0] - count, count - bounds[1])
