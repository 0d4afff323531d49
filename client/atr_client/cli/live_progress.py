"""Two ways to show what a sweep tells of itself: plain lines, and live bars."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import (
    Progress as Bar,
)

from atr_client.models.meter import cost_text, dollars
from atr_client.outputs.layout import CellKey
from atr_data.trajectory import Trajectory
from atr_data.usage import Usage


@dataclass(frozen=True, slots=True)
class Lines:
    """One plain line per cell that starts or ends, for logs and pipes."""

    show: Callable[[str], None]

    def cell_started(self, key: CellKey, sessions: int) -> None:
        self.show(f"start {key.cell_id} ({sessions} sessions)")

    def session_done(self, key: CellKey, trajectory: Trajectory, *, reused: bool) -> None: ...

    def cell_done(self, key: CellKey, row: Mapping[str, Any]) -> None:
        self.show(f"{verdict(row)} {key.cell_id}")


@dataclass(slots=True)
class Bars:
    """A live bar per running cell and one for the whole sweep, which shows what its sessions cost."""

    bar: Bar
    total: TaskID
    cells: dict[str, TaskID] = field(default_factory=dict[str, TaskID])
    usage: Usage = Usage()

    def cell_started(self, key: CellKey, sessions: int) -> None:
        name = f"{key.persona_id} {key.variant} {key.model}"
        self.cells[key.cell_id] = self.bar.add_task(name, total=sessions)

    def session_done(self, key: CellKey, trajectory: Trajectory, *, reused: bool) -> None:
        self.bar.advance(self.cells[key.cell_id])
        self.usage = sum(trajectory.token_usage.values(), self.usage)
        if cost := cost_text(self.usage):
            self.bar.update(self.total, description=f"cells ({cost})")

    def cell_done(self, key: CellKey, row: Mapping[str, Any]) -> None:
        if task := self.cells.pop(key.cell_id, None):
            self.bar.remove_task(task)
        self.bar.advance(self.total)
        self.bar.console.print(f"{verdict(row)} {key.cell_id}", markup=False, highlight=False)


@contextmanager
def live_bars(console: Console, cells: Sequence[CellKey]) -> Generator[Bars]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        yield Bars(bar, bar.add_task("cells", total=len(cells)))


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
    if not any(row.get(f"tok_{role}_calls") for role in ("agent", "router", "user", "cls")):
        return ""
    cost = row.get("cost_usd")
    return f", cost {'unknown' if cost is None else dollars(cost)}"
