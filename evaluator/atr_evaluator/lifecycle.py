"""How sessions ended, how many steps they took, and how long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import add
from statistics import median
from typing import Any

from atr_data.trajectory import Trajectory


def lifecycle_metrics(trajectories: Sequence[Trajectory]) -> dict[str, Any]:
    """Per session type: ends by reason; steps and seconds as average, extremes and percentiles."""
    by_type: dict[str, list[Trajectory]] = {}
    for run in trajectories:
        by_type.setdefault(run.session_type, []).append(run)
    return {
        "termination_breakdown": {
            kind: dict(Counter(run.termination_reason for run in runs)) for kind, runs in by_type.items()
        },
        "step_stats": {kind: _spread([run.step_count for run in runs]) for kind, runs in by_type.items()},
        "duration_stats": {
            kind: _spread([run.duration_seconds for run in runs]) for kind, runs in by_type.items()
        },
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    """Two decimals. The 95th percentile is the value at rank round(0.95 n), half-to-even.

    The average adds up plainly, smallest first: `sum` compensates from Python 3.12 on, which would make the
    last digit depend on the interpreter.
    """
    ordered = sorted(values)
    count = len(ordered)
    figures = {
        "avg": reduce(add, ordered) / count,
        "min": ordered[0],
        "p50": median(ordered),
        "p95": ordered[round(0.95 * count) - 1],
        "max": ordered[-1],
    }
    return {name: round(figure, 2) for name, figure in figures.items()}
