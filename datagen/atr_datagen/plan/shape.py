"""Whether what a plan leaves to chance can be expected to keep the bounds on rule-blind choosers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from atr_datagen.gates.report import GateResult
from atr_datagen.plan.model import Plan
from atr_datagen.plan.simulation import simulate
from atr_datagen.validity import GATES, report, within
from atr_datagen.validity.corpus import Metrics, mean, number
from atr_datagen.validity.verdict import Bound, shown

REALISATIONS = 5
"""How often chance is thrown, the faces included; the mean of all throws must keep the bounds."""
_PLANNED = ("counts.", "dist.", "pool.", "shortcut.", "ask.", "leak.ls_enum", "leak.ls_tool")
_PATHS = frozenset({"dup.distinct_trajectories", "dup.top_trajectory_share", "dup.binding_top_share"})
_UNPLANNED = frozenset({"shortcut.history_param_id"})
"""What hangs on words, which are made up here."""
_MINI = {"shortcut.param_id_best": 0.40, "pool.gold_first_share": 0.35, "shortcut.best_lopo": 0.40}
"""For the mini split."""


def check_shape(plan: Plan) -> list[GateResult]:
    """The mean of all throws per bound, for the whole set and for the mini split."""
    return [
        *_gates("plan shape", _whole_bounds(), [report(simulate(plan, t)) for t in range(REALISATIONS)]),
        *_gates(
            "mini shape", _mini_bounds(), [report(simulate(plan, t, plan.mini)) for t in range(REALISATIONS)]
        ),
    ]


def keeps_shape(plan: Plan) -> bool:
    return all(gate.ok for gate in check_shape(plan))


def _whole_bounds() -> Iterator[tuple[Bound, float]]:
    for bound in GATES:
        planned = bound.metric.startswith(_PLANNED) or bound.metric in _PATHS
        if planned and not bound.in_sample and bound.metric not in _UNPLANNED:
            yield bound, bound.value


def _mini_bounds() -> Iterator[tuple[Bound, float]]:
    yield from ((bound, _MINI[bound.metric]) for bound in GATES if bound.metric in _MINI)


def _gates(
    name: str, bounds: Iterable[tuple[Bound, float]], throws: Sequence[Metrics]
) -> Iterator[GateResult]:
    for bound, limit in bounds:
        found = mean([number(metrics, bound.metric) for metrics in throws])
        note = f"{bound.metric} {shown(found)} ({bound.comparison} {limit:g})"
        ok = within(bound, found, limit)
        failure = f"plan.csv: {bound.metric}: {shown(found)} is not {bound.comparison} {limit:g}"
        yield GateResult(name, int(ok), 1, () if ok else (failure,), note)
