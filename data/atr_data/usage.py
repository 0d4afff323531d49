"""Token counters and cost of model calls."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from pydantic import BeforeValidator


def _zero_for_null(value: object) -> object:
    return 0 if value is None else value


Count = Annotated[int, BeforeValidator(_zero_for_null)]
"""A counter; other programs write null for 0."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls; `calls` counts the successful calls that reported usage, and
    `calls_without_usage` those of which nobody knows what they took.

    `cost_usd` in US dollars; None when the price or the tokens of any of the calls are unknown.
    `estimated_usd` is the cost with an estimate in place of what was not reported; None when every call
    reported its usage, or when there is no price.
    """

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    total_tokens: Count = 0
    cached_tokens: Count = 0
    prompt_cache_hit_tokens: Count = 0
    reasoning_tokens: Count = 0
    calls: Count = 0
    calls_without_usage: Count = 0
    cost_usd: float | None = None
    estimated_usd: float | None = None

    @property
    def made_calls(self) -> bool:
        """Whether a model was called at all."""
        return bool(self.calls or self.calls_without_usage)

    @property
    def metered_usd(self) -> float | None:
        """What a limit on cost counts: the cost, else the estimate of it."""
        return self.estimated_usd if self.cost_usd is None else self.cost_usd

    def counters(self) -> dict[str, int]:
        """The counts of what was reported, by name."""
        return {name: getattr(self, name) for name in _REPORTED}

    def __add__(self, other: Usage) -> Usage:
        parts = [usage for usage in (self, other) if usage.made_calls]
        unreported = self.calls_without_usage + other.calls_without_usage
        return Usage(
            **{name: getattr(self, name) + getattr(other, name) for name in _REPORTED},
            calls_without_usage=unreported,
            cost_usd=_sum_if_known([usage.cost_usd for usage in parts]),
            estimated_usd=_sum_if_known([usage.metered_usd for usage in parts]) if unreported else None,
        )


def count_usage(by_role: dict[str, Usage], role: str, usage: Usage) -> None:
    """Adds what a role took to what it took before; a role that called no model stays out."""
    if usage.made_calls:
        by_role[role] = by_role.get(role, Usage()) + usage


_REPORTED = tuple(
    field.name
    for field in fields(Usage)
    if field.name not in ("calls_without_usage", "cost_usd", "estimated_usd")
)


def _sum_if_known(costs: list[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if costs and len(known) == len(costs) else None
