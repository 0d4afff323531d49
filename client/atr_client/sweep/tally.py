"""What there is to say of a sweep while it goes on, in figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from typing import Any

from atr_client.models.meter import cost_text
from atr_data.trajectory import Trajectory
from atr_data.usage import Usage


@dataclass(slots=True)
class Tally:
    """`cells` and `sessions` are those planned. The time left follows from the sessions that this run has
    played; what it reused took no time. Tests count once their cell is scored."""

    cells: int
    sessions: int
    clock: Callable[[], float] = monotonic
    cells_done: int = 0
    sessions_done: int = 0
    played: int = 0
    tests: int = 0
    passed: int = 0
    asks: int = 0
    hits: int = 0
    usage: Usage = Usage()
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def session(self, trajectory: Trajectory, *, reused: bool) -> None:
        self.sessions_done += 1
        self.played += not reused
        events = trajectory.interaction_events
        self.asks += sum(event.kind == "route_decision" and event.route == "rule" for event in events)
        self.hits += sum(
            event.kind == "cls_verdict" and bool(event.rule_id) and not event.cls_error for event in events
        )
        self.usage = sum(trajectory.token_usage.values(), self.usage)

    def cell(self, row: Mapping[str, Any], sessions: int | None = None) -> None:
        """`sessions` of a cell that was done before and is kept as it is."""
        self.cells_done += 1
        self.passed += row.get("ts_pass") or 0
        self.tests += row.get("ts_total") or 0
        if row.get("skipped"):
            self.sessions_done += sessions or 0

    @property
    def seconds_left(self) -> float | None:
        """None as long as nothing was played."""
        if not self.played:
            return None
        pace = (self.clock() - self.started) / self.played
        return pace * max(self.sessions - self.sessions_done, 0)

    @property
    def counts(self) -> Sequence[str]:
        """What is known beside cells, cost and time, in few words each."""
        elapsed = max(self.clock() - self.started, 1e-9)
        tokens = self.usage.prompt_tokens + self.usage.completion_tokens
        known = [
            f"{self.sessions_done:,}/{self.sessions:,} sessions",
            f"{self.passed / self.tests:.0%} of {self.tests} passed" if self.tests else "",
            f"{self.hits} hits of {self.asks} asks" if self.asks else "",
            f"{tokens:,} tokens" if tokens else "",
            f"{self.played / elapsed:.1f} sessions/s" if self.played else "",
        ]
        return [part for part in known if part]

    @property
    def parts(self) -> Sequence[str]:
        """All that is known."""
        cost, left = cost_text(self.usage), self.seconds_left
        return [
            f"{self.cells_done}/{self.cells} cells",
            *self.counts,
            *([f"cost {cost}"] if cost else []),
            *([f"{timedelta(seconds=round(left))} left"] if left is not None else []),
        ]

    @property
    def line(self) -> str:
        return ", ".join(self.parts)
