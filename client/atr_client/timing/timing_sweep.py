"""All cells of a run of the timing track, some at a time, each on its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio

from atr_client.cell.isolation import outcome_of
from atr_client.errors import BudgetReached, CellAbort
from atr_client.models.meter import dollars
from atr_client.timing.scoring_plays import headline
from atr_client.timing.timing_cell import Row, TimingCell, run_timing_cell


@dataclass(slots=True)
class TimingReport:
    """The rows of the cells that came to an end, by cell id. `stopped` says why when a limit left some
    unfinished."""

    planned: Sequence[str]
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    stopped: str | None = None

    @property
    def sorted_rows(self) -> list[Row]:
        return [self.rows[cell_id] for cell_id in self.planned if cell_id in self.rows]

    @property
    def unfinished(self) -> list[str]:
        return [cell_id for cell_id in self.planned if cell_id not in self.rows]

    @property
    def exit_code(self) -> int:
        """0 all cells are done, 1 one failed, 3 some never came to an end. A sitting that its agent cut short
        is an outcome and no failure."""
        if not all(row["ok"] for row in self.rows.values()):
            return 1
        return 3 if self.unfinished else 0


async def run_timing(
    cells: Sequence[TimingCell], report: TimingReport, show: Callable[[str], None], *, at_once: int = 1
) -> None:
    """Runs all cells. One that fails gives a row that says so, and stops no other."""
    limiter = anyio.CapacityLimiter(at_once)

    async def run(cell: TimingCell) -> None:
        async with limiter:
            started = time.monotonic()
            show(f"start {cell.key.cell_id} ({len(cell.session_ids)} sessions)")
            outcome = await outcome_of(lambda: run_timing_cell(cell))
            if isinstance(outcome, BudgetReached):
                report.stopped = str(outcome)
                show(f"stopped {cell.key.cell_id}")
                return
            if isinstance(outcome, Exception):
                reason = str(outcome) or type(outcome).__name__
                row = cell.row(ok=False, seconds=time.monotonic() - started, error=reason)
                outcome = row | ({"aborted": True} if isinstance(outcome, CellAbort) else {})
            report.rows[cell.key.cell_id] = outcome
            show(f"{_verdict(outcome)} {cell.key.cell_id}")

    async with anyio.create_task_group() as group:
        for cell in cells:
            group.start_soon(run, cell)


def _verdict(row: Row) -> str:
    if not row["ok"]:
        return f"{'aborted' if row.get('aborted') else 'failed'} ({row['error']})"
    if row.get("skipped"):
        return "kept"
    cost = "" if not row["calls"] else f", cost {_dollars(row['cost_usd'])}"
    name, value = headline(row)
    return f"{name} {value:.3f}{cost}"


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else dollars(cost)
