"""The guess bound by play: what choosers that know no rule pass under fresh salts, by the evaluator."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, pstdev
from typing import Self

from atr_data.episode import Episode
from atr_datagen.gates.episode_gates import cases
from atr_datagen.validity.hostile_chooser import Hostile, is_available
from atr_datagen.validity.options import Choice, choice_of, passes
from atr_datagen.validity.players import Anything, First, LimitTwin, Memoriser, Player, Yardstick
from atr_evaluator.guess_bound import GuessBound

SALTS = 10
MARGIN = 0.04
"""How far above its bound the mean over salts may lie."""
Redraw = Callable[[int], Sequence[Episode]]
"""The same personas with their faces drawn under the fresh salt of that number."""


@dataclass(frozen=True, slots=True)
class Played:
    """Share of tests passed under each salt, and the bound that fits how the player plays."""

    player: str
    shares: Sequence[float]
    bound: float

    @property
    def mean(self) -> float:
        return mean(self.shares)

    @property
    def ok(self) -> bool:
        return self.mean <= self.bound + MARGIN

    def __str__(self) -> str:
        mark = "pass" if self.ok else "FAIL"
        told = f"{self.mean:.3f} (sd {pstdev(self.shares):.3f} over {len(self.shares)} salts)"
        return f"{mark:<4}  play: {self.player:<36} {told} <= {self.bound:.3f} + {MARGIN:g}"


@dataclass(frozen=True, slots=True)
class Table:
    """The tests of one draw, by persona."""

    by_persona: Mapping[str, Sequence[Choice]]

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> Self:
        return cls({e.persona_id: [choice_of(case) for case in cases([e])] for e in episodes})

    def others(self, persona: str) -> list[Choice]:
        return [choice for name, own in self.by_persona.items() if name != persona for choice in own]

    def all(self) -> list[Choice]:
        return [choice for own in self.by_persona.values() for choice in own]


def play(published: Sequence[Episode], redraw: Redraw, bound: GuessBound, salts: int = SALTS) -> list[Played]:
    """Every player under every salt; the hostile chooser only where scikit-learn is installed."""
    players = _players(Table.of(published))
    tables = [Table.of(redraw(number)) for number in range(salts)]
    found = [
        Played(
            player.name,
            [share(player, table, number) for number, table in enumerate(tables)],
            bound.confirming if player.confirming else bound.plain,
        )
        for player in players
    ]
    return [*found, *_manners(tables, bound)]


def _players(published: Table) -> list[Player]:
    hostile = [Hostile("linear"), Hostile("trees")] if is_available() else []
    return [Memoriser.of(published.all()), Anything(), First(), LimitTwin(), Yardstick(), *hostile]


def _manners(tables: Sequence[Table], bound: GuessBound) -> list[Played]:
    """What confirming every write and spraying rival tools add to choosing anything."""
    anything = Anything()
    return [
        Played(
            "random, confirming every write",
            [share(anything, table, n, confirming=True) for n, table in enumerate(tables)],
            bound.confirming,
        ),
        Played(
            "random, spraying rival tools",
            [share(anything, table, n, spraying=True) for n, table in enumerate(tables)],
            bound.spraying,
        ),
    ]


def share(
    player: Player, table: Table, salt: int, *, confirming: bool = False, spraying: bool = False
) -> float:
    """The share of tests that a player passes, taught with the tests of the other personas."""
    hits: list[bool] = []
    confirms = confirming or player.confirming
    for persona, own in table.by_persona.items():
        rank = player.trained(table.others(persona))
        for choice, preference in zip(own, rank(own), strict=True):
            picked = _best(preference, choice, f"{salt}|{player.name}")
            hits.append(passes(choice, picked, confirming=confirms, spraying=spraying))
    return sum(hits) / len(hits)


def _best(scores: Sequence[float], choice: Choice, seed: str) -> list[int]:
    """The places of the highest scores; of several alike those that a hash says."""

    def lot(place: int) -> str:
        text = f"{seed}|{choice.case.rule.rule_id}|{place}"
        return hashlib.sha256(text.encode()).hexdigest()

    order = sorted(range(len(scores)), key=lambda place: (-scores[place], lot(place)))
    return order[: choice.count]
