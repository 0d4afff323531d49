"""How sessions ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from atr_data.constants import CLEAN_TERMINATIONS
from atr_evaluator.aggregate.figures import Figure, FigureTable, share
from atr_evaluator.aggregate.settings import Group, ScoredCell

_TYPES = ("learning", "test")
_NOTES = (
    f"clean ends are {' and '.join(sorted(CLEAN_TERMINATIONS))}; any other is a session that the agent did "
    "not bring to its end, and is scored by its calls all the same. In brackets: the number of sessions.",
)


def ending_table(found: Sequence[Group]) -> FigureTable:
    figures = [figure for group in found for figure in _group(group)]
    return FigureTable("endings", "how sessions ended, %", figures, _NOTES)


def _group(group: Group) -> Iterator[Figure]:
    for kind in _TYPES:
        told = [(cell, _ends(cell, kind)) for cell in group.scored]
        for reason in sorted({reason for _, ends in told for reason in ends}):
            counts = [(cell.persona, ends.get(reason, 0), sum(ends.values())) for cell, ends in told]
            yield share(group.setting, group.variant, f"{kind}: {reason}", counts)


def _ends(cell: ScoredCell, kind: str) -> Mapping[str, int]:
    breakdown: Mapping[str, Mapping[str, int]] = cell.metrics.get("termination_breakdown") or {}
    return breakdown.get(kind) or {}
