"""Token counters and cost of model calls."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from pydantic import BeforeValidator


def _zero_for_null(value: object) -> object:
    return 0 if value is None else value


Count = Annotated[int, BeforeValidator(_zero_for_null)]
"""A counter; other programs write null for 0."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls; `calls` counts the successful calls that reported usage.

    `cost_usd` in US dollars; None when the price of any of the calls is unknown.
    """

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    total_tokens: Count = 0
    cached_tokens: Count = 0
    prompt_cache_hit_tokens: Count = 0
    reasoning_tokens: Count = 0
    calls: Count = 0
    cost_usd: float | None = None

    def counters(self) -> dict[str, int]:
        """The counts by name, without the cost."""
        counted = asdict(self)
        del counted["cost_usd"]
        return counted

    def __add__(self, other: Usage) -> Usage:
        mine, theirs = self.counters(), other.counters()
        summed = {name: mine[name] + theirs[name] for name in mine}
        return Usage(**summed, cost_usd=self._cost_with(other))

    def _cost_with(self, other: Usage) -> float | None:
        costs = [usage.cost_usd for usage in (self, other) if usage.calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if costs and len(known) == len(costs) else None
