"""Tokens spent, per role."""

from __future__ import annotations

from collections.abc import Iterable

from atr_data.trajectory import Trajectory
from atr_data.usage import Usage


def token_usage(trajectories: Iterable[Trajectory]) -> dict[str, dict[str, int]]:
    """Role -> counters, summed; roles are taken as they come."""
    total: dict[str, Usage] = {}
    for run in trajectories:
        for role, usage in run.token_usage.items():
            total[role] = total.get(role, Usage()) + usage
    return {role: usage.counters() for role, usage in total.items()}
