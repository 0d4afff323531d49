"""Waits that a person who watches a run should know of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

SHOWN_FROM = 5.0
"""Seconds; shorter waits are the normal course of things."""

ShowWait = Callable[[str, float, str], None]
"""Takes a model's id, the seconds it will be waited for, and why."""


@dataclass(slots=True)
class WaitNotices:
    """Tells of long waits, once somebody wants to know."""

    show: ShowWait | None = None

    def tell(self, model_id: str, seconds: float, reason: str) -> None:
        if self.show and seconds > SHOWN_FROM:
            self.show(model_id, seconds, reason)


def span(seconds: float) -> str:
    """`42 s`, `7 min`, `1 h 30 min`; never less than it is."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = -int(-seconds // 60)
    hours, rest = divmod(minutes, 60)
    return " ".join(part for part in (hours and f"{hours} h", rest and f"{rest} min") if part)
