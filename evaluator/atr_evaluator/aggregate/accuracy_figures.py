"""How many tests passed, in all and by check type and domain, what guessing brings, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from atr_evaluator.aggregate.blind import best_blind
from atr_evaluator.aggregate.bootstrap import ENOUGH_PERSONAS
from atr_evaluator.aggregate.figures import Figure, FigureTable, share
from atr_evaluator.aggregate.settings import Group, ScoredCell
from atr_evaluator.guess_bound import GuessBound

ALL = "all"
INTERVALS = (
    f"intervals: 95 percent, by drawing whole personas; of fewer than {ENOUGH_PERSONAS} Wilson's, over "
    "tests. In brackets: the number of tests."
)
_NOTES = (
    INTERVALS,
    "guess bound: what any chooser that never learned the rule can expect to pass, by construction of the "
    "data; spraying: one that carries every rival tool out as well. - where the episodes do not say.",
    "best rule-blind: the most that a model which never learns a rule passed on the same tests; above it: "
    "the one-sided exact McNemar test at p < 0.05.",
)


def accuracy_table(found: Sequence[Group], blind: Sequence[ScoredCell]) -> FigureTable:
    """`blind` are the cells of models that never learn a rule."""
    figures = [figure for group in found for figure in _group(group, blind)]
    return FigureTable("accuracy", "tests passed, %", figures, _NOTES)


def _group(group: Group, blind: Sequence[ScoredCell]) -> Iterator[Figure]:
    setting, variant = group.setting, group.variant
    results = [(cell.persona, result) for cell in group.scored for result in cell.results]

    def cut(measure: str, chosen: Sequence[tuple[str, Mapping[str, Any]]]) -> Figure:
        return share(setting, variant, measure, [(p, int(r["task_success"]), 1) for p, r in chosen])

    yield cut(ALL, results)
    if not results:
        return
    for key in ("check_type", "domain"):
        by_value: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for persona, result in results:
            by_value.setdefault(result[key], []).append((persona, result))
        for value in sorted(filter(None, by_value)):
            yield cut(value, by_value[value])
    bound = _guess_bound(group)
    yield Figure(setting, variant, "guess bound", bound.plain if bound else None)
    yield Figure(setting, variant, "guess bound, spraying", bound.spraying if bound else None)
    yield from best_blind(group, blind)
    yield from _costs(group)


def _guess_bound(group: Group) -> GuessBound | None:
    rules: list[tuple[str, int]] = []
    for cell in group.scored:
        faces: Mapping[str, int] = (cell.document or {}).get("faces") or {}
        for result in cell.results:
            rule_id: str = result.get("rule_id", "")
            if rule_id not in faces:
                return None
            rules.append((result["check_type"], faces[rule_id]))
    return GuessBound.of(rules) if rules else None


def _costs(group: Group) -> Iterator[Figure]:
    if not any(cell.paid for cell in group.scored):
        return
    known = [cell.cost_usd for cell in group.scored if cell.cost_usd is not None]
    unknown = len(known) < len(group.scored)
    passed = sum(cell.metrics.get("success_count", 0) for cell in group.scored)
    total = None if unknown else sum(known)
    note = "unknown" if unknown else ""
    yield Figure(group.setting, group.variant, "cost", total, "dollars", note=note)
    each = total / passed if total is not None and passed else None
    yield Figure(group.setting, group.variant, "each pass costs", each, "dollars", note=note)
