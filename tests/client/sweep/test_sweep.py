"""Sweeps: isolation, limits, cancellation, summary."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from atr_client.cell.cell_runner import run_cell
from atr_client.cli.live_progress import verdict
from atr_client.errors import CellAbort, CellBusy
from atr_client.sweep.sweep_runner import SweepReport, run_sweep, write_summary
from tests.support.cells import Player, small_cell, trajectory_names


async def test_a_failed_cell_stops_no_other(tmp_path: Path) -> None:
    faults = [
        {"l1": CellAbort("router", "l1", "no answer")},
        {"t0": ZeroDivisionError("a bug")},
        {"t1": OSError(28, "No space left on device")},
        {},
    ]
    cells = [
        small_cell(tmp_path, persona=f"p{n}", player=Player("atr", faults=dict(fault)))
        for n, fault in enumerate(faults)
    ]
    report = await run_sweep(cells, at_once=4)
    rows = report.sorted_rows
    assert [row["ok"] for row in rows] == [False, False, False, True]
    assert [row.get("aborted", False) for row in rows] == [True, False, False, False]
    assert (rows[0]["module"], rows[0]["session"]) == ("router", "l1")
    assert "a bug" in rows[1]["error"]
    assert report.exit_code == 1
    assert [verdict(row).split()[0] for row in rows] == ["aborted", "failed", "failed", "passed"]


async def test_cells_run_at_once_up_to_the_limit(tmp_path: Path) -> None:
    player = Player("atr", seconds=0.02)
    cells = [small_cell(tmp_path, persona=f"p{n}", player=player, tests=0) for n in range(5)]
    report = await run_sweep(cells, at_once=2)
    assert player.most_at_once == 2
    assert report.exit_code == 0


async def test_a_cancelled_sweep_keeps_finished_sessions_and_says_what_is_left(tmp_path: Path) -> None:
    scope = anyio.CancelScope()

    class Stopper(Player):
        async def __call__(self, session, **kwargs):
            if session.session_id == "l1":
                scope.cancel()
            return await super().__call__(session, **kwargs)

    quick = small_cell(tmp_path, persona="p0")
    stopped = small_cell(tmp_path, persona="p1", player=Stopper("atr"))
    report = SweepReport([quick.key, stopped.key])
    with scope:
        await run_sweep([quick, stopped], report=report)
    assert scope.cancelled_caught
    assert trajectory_names(stopped) == ["l0.json"]
    assert report.unfinished == [stopped.key.cell_id]
    assert report.exit_code == 3
    again = Player("atr")
    await run_cell(small_cell(tmp_path, persona="p1", player=again))
    assert again.ran == ["l1", "l2", "t0", "t1"]


async def test_nothing_runs_when_another_process_writes_to_one_of_the_cells(tmp_path: Path) -> None:
    first = small_cell(tmp_path, persona="p0")
    inner = Player("atr")

    class Intruder(Player):
        async def __call__(self, session, **kwargs):
            cells = [small_cell(tmp_path, persona="p1", player=inner), small_cell(tmp_path, persona="p0")]
            with pytest.raises(CellBusy, match=str(first.folder.path)):
                await run_sweep(cells)
            assert not cells[0].folder.path.exists()
            return await super().__call__(session, **kwargs)

    report = await run_sweep([replace(first, run_session=Intruder("atr"))])
    assert report.exit_code == 0
    assert inner.ran == []


async def test_the_summary_holds_every_row_and_the_counts(tmp_path: Path) -> None:
    bad = Player("atr", faults={"l0": CellAbort("agent", "l0", "gone")})
    cells = [small_cell(tmp_path, persona="p1"), small_cell(tmp_path, persona="p0", player=bad)]
    report = await run_sweep(cells)
    left = small_cell(tmp_path, persona="p2").key
    path = write_summary(tmp_path, SweepReport([*report.planned, left], report.rows), {"config": "x"})
    document = json.loads(path.read_text())
    assert path.parent.name == "_summary"
    assert [row["cell_id"] for row in document["rows"]] == sorted(report.rows)
    assert document["n_cells_total"] == 3
    assert (document["n_cells_ok"], document["n_cells_aborted"], document["n_cells_incomplete"]) == (1, 1, 1)
    assert document["incomplete_cells"] == [left.cell_id]
    assert document["stage"] == "runner"
