"""Rates with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z = 1.96


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """None of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval."""
        if not self.whole:
            return None
        share, n = self.part / self.whole, self.whole
        centre = share + _Z**2 / (2 * n)
        spread = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
        width = 1 + _Z**2 / n
        return max(0.0, (centre - spread) / width), min(1.0, (centre + spread) / width)

    def render(self) -> str:
        if (interval := self.interval) is None:
            return "-"
        low, high = interval
        return f"{self.value:.3f} [{low:.3f}, {high:.3f}] ({self.part}/{self.whole})"
