"""What another process tells of the cells that it plays: how it is sent, and where it is put."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from atr_client.cell.definition import Cell
from atr_client.cell.progress import Progress
from atr_client.errors import CellError
from atr_client.outputs.layout import CellKey
from atr_client.outputs.rows import failed_row
from atr_client.sweep.cell_queue import CellQueue
from atr_client.sweep.sweep_runner import SweepReport
from atr_data.trajectory import Trajectory
from atr_data.usage import Usage

Message = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TellingProgress:
    """Hands everything on to the process that shows it. Of a trajectory it sends what can be counted."""

    send: Callable[[Message], None]

    def cell_started(self, key: CellKey, sessions: int) -> None:
        self.send(("cell_started", key, sessions))

    def session_done(self, key: CellKey, trajectory: Trajectory, *, reused: bool) -> None:
        self.send(("session_done", key, trajectory.model_copy(update={"messages": []}), reused))

    def cell_done(self, key: CellKey, row: Mapping[str, Any]) -> None:
        self.send(("cell_done", key, dict(row)))

    def model_waits(self, model_id: str, seconds: float, reason: str) -> None:
        self.send(("model_waits", model_id, seconds, reason))

    def line(self, text: str) -> None:
        self.send(("line", text))


@dataclass(slots=True)
class News:
    """Takes in what is told. A cell may begin more than once, when the process that had it died: its sessions
    are shown once."""

    queue: CellQueue
    cells: dict[str, Cell]
    progress: Progress
    report: SweepReport
    show: Callable[[str], None]
    begun: set[str] = field(default_factory=set[str])
    ended: set[str] = field(default_factory=set[str])
    shown: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def take(self, message: Message) -> tuple[CellKey | None, Usage | None]:
        """The cell that ended, and what a session took."""
        match message:
            case ("cell_started", CellKey() as key, int(sessions)):
                if key.cell_id in self.begun:
                    self.show(f"start again {key.cell_id}: the process that had it is gone")
                else:
                    self.begun.add(key.cell_id)
                    self.progress.cell_started(key, sessions)
            case ("session_done", CellKey() as key, Trajectory() as trajectory, bool(reused)):
                self._session(key, trajectory, reused)
                return None, None if reused else sum(trajectory.token_usage.values(), Usage())
            case ("cell_done", CellKey() as key, row):
                self.done(key, row)
                return key, None
            case ("model_waits", model_id, seconds, reason):
                self.progress.model_waits(model_id, seconds, reason)
            case _:
                self.show(message[1])
        return None, None

    def _session(self, key: CellKey, trajectory: Trajectory, reused: bool) -> None:
        if (told := (key.cell_id, trajectory.session_id)) not in self.shown:
            self.shown.add(told)
            self.progress.session_done(key, trajectory, reused=reused)

    def done(self, key: CellKey, row: Mapping[str, Any]) -> None:
        self.ended.add(key.cell_id)
        self.queue.ended(key)
        self.report.note(key, dict(row))
        self.progress.cell_done(key, row)

    def lost(self, cell_id: str, why: str) -> None:
        """The cell will not come to an end in this run."""
        cell = self.cells[cell_id]
        error = CellError(f"{why}; run the same command to go on")
        self.done(cell.key, failed_row(cell.name, error, duration=0.0))
