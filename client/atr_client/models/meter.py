"""What a sweep has cost, held against its limit."""

from __future__ import annotations

from dataclasses import dataclass

from atr_client.errors import BudgetReached
from atr_data.usage import Usage


@dataclass(slots=True)
class Meter:
    """US dollars of all calls so far, failed sessions included; `limit` None: any amount."""

    limit: float | None = None
    dollars: float = 0.0

    def add(self, usage: Usage) -> None:
        self.dollars += usage.cost_usd or 0.0

    def check(self) -> None:
        """To be called before a session begins. Raises BudgetReached."""
        if self.limit is not None and self.dollars >= self.limit:
            raise BudgetReached(
                f"stopped by limits.cost_usd: {dollars(self.dollars)} of {dollars(self.limit)} are spent; "
                "raise it and run the same command to go on"
            )


def dollars(amount: float) -> str:
    """Cents, or tenths of them below one dollar."""
    return f"${amount:.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def cost_text(usage: Usage) -> str:
    """The cost of some calls for a person: empty without calls, `unknown` when one of the prices is."""
    if not usage.calls:
        return ""
    return "unknown" if usage.cost_usd is None else dollars(usage.cost_usd)
