"""Which cell of a sweep begins next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil

from atr_client.cell.definition import Cell
from atr_client.outputs.layout import CellKey


class CellQueue:
    """The longest cells come first, since a sweep ends with its last cell, and models take turns: while
    several of them have cells left, none holds more than its share of the places, so that one whose provider
    is slow or gone holds back its own cells alone."""

    def __init__(self, cells: Sequence[Cell], at_once: int) -> None:
        self._at_once = at_once
        self._waiting: dict[str, list[Cell]] = {}
        self._running: Counter[str] = Counter()
        for cell in sorted(cells, key=_length, reverse=True):
            self._waiting.setdefault(cell.key.model, []).append(cell)

    def take(self) -> Cell | None:
        """The next cell, which counts as running from now on; None when none may begin."""
        if self._running.total() >= self._at_once:
            return None
        models = [model for model, cells in self._waiting.items() if cells]
        share = ceil(self._at_once / max(len({*models, *+self._running}), 1))
        models = [model for model in models if self._running[model] < share]
        if not models:
            return None
        # The first of those with the fewest running cells whose next cell is the longest.
        model = min(models, key=lambda model: (self._running[model], _shortness(self._waiting[model][0])))
        self._running[model] += 1
        return self._waiting[model].pop(0)

    def ended(self, key: CellKey) -> None:
        self._running[key.model] -= 1

    @property
    def waits(self) -> bool:
        """Whether any cell has yet to begin."""
        return any(self._waiting.values())


def _length(cell: Cell) -> tuple[int, int]:
    """Learning sessions follow each other, test sessions need not."""
    tests = len(cell.episode.test_sessions)
    return len(cell.sessions) - tests, tests


def _shortness(cell: Cell) -> tuple[int, int]:
    learning, tests = _length(cell)
    return -learning, -tests
