"""How well the asking was judged: what came of the questions, in all and as the sessions went on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from atr_evaluator.aggregate.figures import Figure, FigureTable, share
from atr_evaluator.aggregate.settings import Group, ScoredCell
from atr_evaluator.companions import pooled_companions

_STAGES = 4
_NOTES = (
    "asks: questions about standing rules. hit: the question was taken for one about a rule that the user "
    "has; repeat: a hit on a rule that had been heard before. The quarters are those of each cell's learning "
    "sessions in the order in which they were held; in brackets, what the share is of.",
    "confirm hits minus false alarms: confirm rules in which the agent asked first, minus sibling rules "
    "about the same tool in which it did and should not. Whoever confirms everything, or nothing, gets 0.",
)


def asking_table(found: Sequence[Group]) -> FigureTable:
    figures = [figure for group in found for figure in _group(group)]
    return FigureTable("asking", "calibration of asking", figures, _NOTES)


def _group(group: Group) -> Iterator[Figure]:
    setting, variant = group.setting, group.variant
    told = [(cell, entries) for cell in group.scored if (entries := _entries(cell))]
    if told:
        sessions = sum(len(entries) for _, entries in told)
        asks = sum(entry["asks"] for _, entries in told for entry in entries)
        rules = sum(cell.rules for cell, _ in told)
        yield Figure(setting, variant, "asks per session", asks / sessions, "rate", count=sessions)
        yield Figure(setting, variant, "asks per rule", asks / rules if rules else None, "rate", count=rules)
        yield _share(group, "hit rate", told, "hits", ("hits", "misses"))
        yield _share(group, "repeated, of hits", told, "repeats", ("hits",))
        for stage in range(_STAGES):
            cut = [(cell, _stage(entries, stage)) for cell, entries in told]
            yield _share(group, f"hit rate, quarter {stage + 1}", cut, "hits", ("hits", "misses"))
    blocks = [found for cell in group.scored if (found := (cell.document or {}).get("companions"))]
    confirm = pooled_companions(blocks)["confirm"]["hit_minus_false_alarm"] if blocks else None
    yield Figure(setting, variant, "confirm hits minus false alarms", confirm, "points")


def _entries(cell: ScoredCell) -> Sequence[Mapping[str, Any]]:
    return (cell.document or {}).get("asking") or ()


def _stage(entries: Sequence[Mapping[str, Any]], stage: int) -> Sequence[Mapping[str, Any]]:
    """One quarter of a cell's sessions; quarters differ by at most one session."""
    ends = list(accumulate((len(entries) + _STAGES - 1 - n) // _STAGES for n in range(_STAGES)))
    return entries[ends[stage - 1] if stage else 0 : ends[stage]]


def _share(
    group: Group,
    measure: str,
    told: Sequence[tuple[ScoredCell, Sequence[Mapping[str, Any]]]],
    part: str,
    wholes: Sequence[str],
) -> Figure:
    counts = [
        (cell.persona, entry[part], sum(entry[name] for name in wholes))
        for cell, entries in told
        for entry in entries
    ]
    return share(group.setting, group.variant, measure, counts)
