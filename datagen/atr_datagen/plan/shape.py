"""Whether what a plan leaves to chance can be expected to keep the bounds on rule-blind choosers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from atr_datagen.gates.report import GateResult
from atr_datagen.plan.model import Plan
from atr_datagen.plan.simulation import simulate
from atr_datagen.validity import GATES, report, within
from atr_datagen.validity.corpus import Metrics, number
from atr_datagen.validity.verdict import Bound, shown

REALISATIONS = 3
"""How often chance is thrown; every throw must keep the bounds."""
_PLANNED = ("counts.", "dist.", "pool.", "shortcut.", "ask.", "leak.ls_enum", "leak.ls_tool")
_PATHS = frozenset({"dup.distinct_trajectories", "dup.top_trajectory_share"})
_RESERVE = {"shortcut.best_in_sample": 0.445, "shortcut.best_lopo": 0.345}
"""Tighter than the dataset's bound: words and places add to what frequencies give away."""
_MINI = {"shortcut.param_id_best": 0.33, "pool.gold_first_share": 0.35, "shortcut.best_lopo": 0.40}
"""For the mini split, whose own bounds are .40, .35 and .45."""


def check_shape(plan: Plan) -> list[GateResult]:
    """The worst of all throws per bound, for the whole set and for the mini split."""
    whole = [report(simulate(plan, throw)) for throw in range(REALISATIONS)]
    mini = [report(simulate(plan, throw, plan.mini)) for throw in range(REALISATIONS)]
    return [
        *(_gate("plan shape", bound, limit, whole) for bound, limit in _whole_bounds()),
        *(_gate("mini shape", bound, limit, mini) for bound, limit in _mini_bounds()),
    ]


def keeps_shape(plan: Plan) -> bool:
    """As check_shape, but stops at the first bound that is not kept."""
    for throw in range(REALISATIONS):
        for bounds, personas in ((_whole_bounds(), None), (_mini_bounds(), plan.mini)):
            metrics = report(simulate(plan, throw, personas))
            if not all(within(bound, number(metrics, bound.metric), limit) for bound, limit in bounds):
                return False
    return True


def _whole_bounds() -> Iterator[tuple[Bound, float]]:
    for bound in GATES:
        if bound.metric.startswith(_PLANNED) or bound.metric in _PATHS:
            yield bound, _RESERVE.get(bound.metric, bound.value)


def _mini_bounds() -> Iterator[tuple[Bound, float]]:
    yield from ((bound, _MINI[bound.metric]) for bound in GATES if bound.metric in _MINI)


def _gate(name: str, bound: Bound, limit: float, throws: Sequence[Metrics]) -> GateResult:
    found = [number(metrics, bound.metric) for metrics in throws]
    broken = [value for value in found if not within(bound, value, limit)]
    note = f"{bound.metric} {' '.join(map(shown, found))} ({bound.comparison} {limit:g})"
    failures = [
        f"plan.csv: {bound.metric}: {shown(value)} is not {bound.comparison} {limit:g}" for value in broken
    ]
    return GateResult(name, len(found) - len(broken), len(found), failures, note)
