"""The numbers that scoring depends on. They are printed with every result."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class TimingRules:
    """Seconds, except `false_alarm_cost` (lambda) and `late_share` (what a late match is worth).

    `before` and `after` bound the window of a need that no scene announces. Gaps above `idle_gap` are not
    counted as activity.
    """

    before: float = 120.0
    after: float = 15.0
    idle_gap: float = 300.0
    false_alarm_cost: float = 0.5
    late_share: float = 0.5
    resamples: int = 1000
    resampling_seed: int = 0

    def shown(self) -> dict[str, float | int]:
        return asdict(self)


COSTS = (0.25, 0.5, 1.0)
"""Lambdas at which utility is told beside the rules' own."""
