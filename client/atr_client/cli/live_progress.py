"""Two ways to show what a sweep tells of itself: plain lines, and live bars."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import (
    Progress as Bar,
)
from rich.text import Text

from atr_client.models.meter import cost_text, dollars
from atr_client.models.waits import span
from atr_client.outputs.layout import CellKey
from atr_client.outputs.rows import made_calls
from atr_client.sweep.tally import Tally
from atr_data.trajectory import Trajectory
from atr_data.usage import Usage

BETWEEN_LINES = 60.0
"""Seconds after which a plain line tells how far a sweep is, when no cell has ended meanwhile."""


@dataclass(slots=True)
class Lines:
    """One plain line per cell that starts or ends, for logs and pipes; what ends a cell tells how far the
    sweep is, if `tally` counts it."""

    show: Callable[[str], None]
    tally: Tally | None = None
    told: float = field(default_factory=lambda: monotonic())
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    def cell_started(self, key: CellKey, sessions: int) -> None:
        self.sizes[key.cell_id] = sessions
        self.show(f"start {key.cell_id} ({sessions} sessions)")

    def session_done(self, key: CellKey, trajectory: Trajectory, *, reused: bool) -> None:
        if self.tally:
            self.tally.session(trajectory, reused=reused)
            if monotonic() - self.told > BETWEEN_LINES:
                self._tell(f"under way ({self.tally.line})")

    def cell_done(self, key: CellKey, row: Mapping[str, Any]) -> None:
        line = f"{verdict(row)} {key.cell_id}"
        if self.tally:
            self.tally.cell(row, self.sizes.get(key.cell_id))
            line += f" ({self.tally.line})"
        self._tell(line)

    def _tell(self, line: str) -> None:
        self.told = monotonic()
        self.show(line)

    def model_waits(self, model_id: str, seconds: float, reason: str) -> None:
        self.show(waiting(model_id, seconds, reason))


@dataclass(slots=True)
class Bars:
    """A live bar per running cell and one for the whole sweep, which shows what its sessions cost.

    The time left follows from the sessions that this run has played; what it reused took no time. A cell
    counts by the share of its sessions that is done.
    """

    bar: Bar
    total: TaskID
    cells: dict[str, TaskID] = field(default_factory=dict[str, TaskID])
    usage: Usage = Usage()
    started: float = field(default_factory=lambda: monotonic())
    played: float = 0.0
    done: int = 0
    tally: Tally | None = None
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    def cell_started(self, key: CellKey, sessions: int) -> None:
        self.sizes[key.cell_id] = sessions
        name = f"{key.persona_id} {key.variant} {key.model}"
        self.cells[key.cell_id] = self.bar.add_task(name, total=sessions)

    def session_done(self, key: CellKey, trajectory: Trajectory, *, reused: bool) -> None:
        cell = self.cells[key.cell_id]
        self.bar.advance(cell)
        share = 1 / max(self._task(cell).total or 1, 1)
        self.played += 0 if reused else share
        self.bar.advance(self.total, share)
        self._foresee()
        self.usage = sum(trajectory.token_usage.values(), self.usage)
        if cost := cost_text(self.usage):
            self.bar.update(self.total, description=f"cells ({cost})")
        if self.tally:
            self.tally.session(trajectory, reused=reused)
            self._tell()

    def cell_done(self, key: CellKey, row: Mapping[str, Any]) -> None:
        self.done += 1
        if task := self.cells.pop(key.cell_id, None):
            self.bar.remove_task(task)
        running = sum(self._task(task).percentage / 100 for task in self.cells.values())
        self.bar.update(self.total, completed=self.done + running)
        self._foresee()
        if self.tally:
            self.tally.cell(row, self.sizes.get(key.cell_id))
            self._tell()
        self._print(f"{verdict(row)} {key.cell_id}")

    def model_waits(self, model_id: str, seconds: float, reason: str) -> None:
        self._print(waiting(model_id, seconds, reason))

    def _tell(self) -> None:
        """What no other column says."""
        if self.tally:
            self.bar.update(self.total, told=", ".join(self.tally.counts))

    def _print(self, line: str) -> None:
        self.bar.console.print(line, markup=False, highlight=False)

    def _foresee(self) -> None:
        total = self._task(self.total)
        if self.played:
            pace = (monotonic() - self.started) / self.played
            self.bar.update(self.total, ends=monotonic() + pace * (total.remaining or 0.0))

    def _task(self, task_id: TaskID) -> Task:
        return next(task for task in self.bar.tasks if task.id == task_id)


class TimeLeft(ProgressColumn):
    """The time until `ends`, a field of the task on the clock of `monotonic`; nothing without one."""

    def render(self, task: Task) -> Text:
        ends = task.fields.get("ends")
        if ends is None or task.finished:
            return Text("")
        return Text(
            f"{timedelta(seconds=max(round(ends - monotonic()), 0))} left", style="progress.remaining"
        )


class Told(ProgressColumn):
    """What else there is to tell of a task: its field `told`."""

    def render(self, task: Task) -> Text:
        return Text(task.fields.get("told", ""), overflow="ellipsis", no_wrap=True)


@contextmanager
def live_bars(console: Console, cells: Sequence[CellKey], tally: Tally | None = None) -> Generator[Bars]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, TimeLeft(), Told(), console=console, transient=True) as bar:
        yield Bars(bar, bar.add_task("cells", total=len(cells)), tally=tally)


def waiting(model_id: str, seconds: float, reason: str) -> str:
    return f"waiting {span(seconds)} for {model_id}: {reason}"


def verdict(row: Mapping[str, Any]) -> str:
    """One short phrase for what became of a cell."""
    if row.get("skipped"):
        return "kept"
    if row["ok"]:
        return f"passed {row['ts_pass']}/{row['ts_total']}{_cost(row)}"
    if row.get("stopped"):
        return "stopped"
    return f"{'aborted' if row.get('aborted') else 'failed'} ({row['error']})"


def _cost(row: Mapping[str, Any]) -> str:
    if not made_calls(row):
        return ""
    cost = row.get("cost_usd")
    return f", cost {'unknown' if cost is None else dollars(cost)}"
