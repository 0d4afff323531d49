"""A sweep: many cells at once, each on its own."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio

from atr_client.cell.cell_runner import run_cell
from atr_client.cell.definition import Cell
from atr_client.cell.isolation import outcome_of
from atr_client.cell.progress import Progress, Silent
from atr_client.errors import CellBusy, CellError
from atr_client.outputs.cell_archive import FINISHED, bring_all
from atr_client.outputs.cell_lock import is_busy
from atr_client.outputs.layout import SUMMARY_FOLDER, CellKey, summary_path, utc_stamp
from atr_client.outputs.rows import Row, failed_row
from atr_client.outputs.stores import Store
from atr_client.sweep.cell_queue import CellQueue
from atr_data.files import write_atomic
from atr_data.json_text import indented_json


@dataclass(slots=True)
class SweepReport:
    """The rows of the cells that came to an end, by cell id; `planned` are those there were to be. `stopped`
    says why when a limit of the sweep left some of them unfinished."""

    planned: Sequence[CellKey]
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    stopped: str | None = None

    def note(self, key: CellKey, row: Row) -> None:
        if row.get("stopped"):
            self.stopped = row["error"]
        else:
            self.rows[key.cell_id] = row

    def is_ok(self, key: CellKey) -> bool:
        return bool(self.rows.get(key.cell_id, {}).get("ok"))

    @property
    def sorted_rows(self) -> list[Row]:
        return [self.rows[cell_id] for cell_id in sorted(self.rows)]

    @property
    def unfinished(self) -> list[str]:
        return sorted(key.cell_id for key in self.planned if key.cell_id not in self.rows)

    @property
    def exit_code(self) -> int:
        """0 all cells are done, 1 one failed or was aborted, 3 some never came to an end, or trajectories and
        call log of one differ."""
        if not all(row["ok"] for row in self.rows.values()):
            return 1
        unverified = any(row.get("verified") is False for row in self.rows.values())
        return 3 if self.unfinished or unverified else 0


async def run_sweep(
    cells: Sequence[Cell],
    *,
    at_once: int = 1,
    progress: Progress | None = None,
    report: SweepReport | None = None,
) -> SweepReport:
    """Runs all cells, `at_once` of them at a time. A cell that fails gives a row that says so.

    `report` is filled as cells end, for a caller that wants to know what was done before a cancellation.
    Raises CellBusy, before anything runs, when another process is writing to one of the cells.
    """
    refuse_busy(cells)
    report = SweepReport([cell.key for cell in cells]) if report is None else report
    queue = CellQueue(cells, at_once)

    async def run(cell: Cell) -> None:
        report.note(cell.key, await row_of(cell, progress or Silent()))
        queue.ended(cell.key)
        begin()

    def begin() -> None:
        while cell := queue.take():
            group.start_soon(run, cell)

    async with anyio.create_task_group() as group:
        begin()
    return report


def refuse_busy(cells: Sequence[Cell]) -> None:
    for cell in cells:
        if is_busy(cell.folder):
            raise CellBusy(
                f"another process is writing to {cell.folder.path}; wait for it or use another outputs folder"
            )


async def row_of(cell: Cell, progress: Progress) -> Row:
    """What became of a cell, a failure included."""
    started = time.monotonic()
    progress.cell_started(cell.key, len(cell.sessions))

    async def run() -> Row:
        return dict((await run_cell(cell, progress)).row)

    outcome = await outcome_of(run)
    if isinstance(outcome, Exception):
        outcome = failed_row(cell.name, outcome, duration=time.monotonic() - started)
    progress.cell_done(cell.key, outcome)
    return outcome


def bring_finished(cells: Sequence[Cell], report: SweepReport) -> None:
    """Puts the finished cells where readers on this machine look for them, and says so in their rows. One
    that another machine finished and this one cannot see counts as failed."""
    brought = [
        (cell.archive, cell.folder)
        for cell in cells
        if cell.archive and report.is_ok(cell.key) and not cell.folder.done.exists()
    ]
    bring_all(brought)
    for cell in cells:
        if not report.is_ok(cell.key):
            continue
        if cell.folder.done.exists():
            report.rows[cell.key.cell_id]["runs_dir"] = str(cell.folder.path)
        else:
            error = CellError(
                f"its worker finished it in {cell.folder.path}, where this machine has nothing: outputs must "
                "be a folder that all machines share, or the address of a store"
            )
            report.rows[cell.key.cell_id] = failed_row(cell.name, error, duration=0.0)


def write_summary(
    root: Path, report: SweepReport, args: Mapping[str, Any], store: Store | None = None
) -> Path:
    """Writes `_summary/runner_<UTC>.json` below the outputs root and returns its path. `store` is where the
    cells are kept, when that is elsewhere."""
    rows = [dict(row) for row in report.sorted_rows]
    for row in rows:
        if store and row["ok"]:
            row["runs_dir"] = store.at(row["cell_id"] + FINISHED)
    stamp = utc_stamp()
    path = summary_path(root, "runner", stamp)
    path.parent.mkdir(parents=True, exist_ok=True)
    document: dict[str, Any] = {
        "stage": "runner",
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "mode": "sweep",
        "args": dict(args),
        "rows": rows,
        "n_cells_total": len(report.planned),
        "n_cells_ok": sum(row["ok"] for row in rows),
        "n_cells_aborted": sum(bool(row.get("aborted")) for row in rows),
        "n_cells_incomplete": len(report.unfinished),
        "incomplete_cells": report.unfinished,
        "stopped": report.stopped,
    }
    write_atomic(path, indented_json(document))
    return path


def keep_summary(path: Path, store: Store) -> str:
    """Puts a summary into a store, under a name that no other run takes. Returns its address."""
    name = f"{SUMMARY_FOLDER}/{path.stem}-{uuid.uuid4().hex[:8]}.json"
    store.put(name, path.read_bytes())
    return store.at(name)
