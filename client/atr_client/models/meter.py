"""What a sweep has cost, held against its limit."""

from __future__ import annotations

from dataclasses import dataclass

from atr_client.errors import BudgetReached
from atr_data.usage import Usage


@dataclass(slots=True)
class Meter:
    """US dollars of all calls so far, failed sessions included; `limit` None: any amount. Calls that did not
    report their usage count by an estimate; `estimated_calls` is how many there were."""

    limit: float | None = None
    dollars: float = 0.0
    estimated_calls: int = 0

    def add(self, usage: Usage) -> None:
        self.dollars += usage.metered_usd or 0.0
        self.estimated_calls += usage.calls_without_usage

    def check(self) -> None:
        """To be called before a session begins. Raises BudgetReached."""
        if self.limit is None or self.dollars < self.limit:
            return
        about = estimate = ""
        if self.estimated_calls:
            about = "about "
            estimate = f" (an estimate: {self.estimated_calls} calls did not report their tokens)"
        raise BudgetReached(
            f"stopped by limits.cost_usd: {about}{dollars(self.dollars)} of {dollars(self.limit)} are "
            f"spent{estimate}; raise it and run the same command to go on"
        )


def dollars(amount: float) -> str:
    """Cents, or tenths of them below one dollar."""
    return f"${amount:.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def cost_text(usage: Usage) -> str:
    """The cost of some calls for a person: empty without calls, `unknown` when a price is, or what a call
    took."""
    if not usage.made_calls:
        return ""
    return "unknown" if usage.cost_usd is None else dollars(usage.cost_usd)
