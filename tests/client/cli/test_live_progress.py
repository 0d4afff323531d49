"""What a person sees while a sweep runs."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from atr_client.cli.live_progress import Lines, TimeLeft, live_bars
from atr_client.errors import CellAbort
from atr_client.logs import cell_log, get_logger, terminal_log
from atr_client.outputs.layout import CellKey
from atr_client.sweep.sweep_runner import run_sweep
from atr_data.trajectory import Trajectory
from atr_data.usage import Usage
from tests.support.cells import Player, small_cell


def _cells(root: Path):
    broken = Player("atr", faults={"l0": CellAbort("agent", "l0", "no [answer]")})
    return [small_cell(root, persona="p0"), small_cell(root, persona="p1", player=broken)]


async def test_plain_lines_tell_start_and_end_of_every_cell(tmp_path: Path) -> None:
    lines: list[str] = []
    await run_sweep(_cells(tmp_path), progress=Lines(lines.append))
    assert len(lines) == 4
    assert "5 sessions" in lines[0]
    assert lines[1].startswith("passed 0/2 p0/")
    assert lines[3].startswith("aborted (agent failed in session l0: no [answer])")


async def test_bars_show_every_cell_and_leave_one_line_for_each(tmp_path: Path) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=200)
    cells = _cells(tmp_path)
    with live_bars(console, [cell.key for cell in cells]) as bars:
        await run_sweep(cells, progress=bars)
    shown = screen.getvalue()
    assert "passed 0/2 p0/" in shown
    assert "no [answer]" in shown


def test_the_bar_of_the_sweep_shows_what_its_sessions_cost() -> None:
    key = CellKey("p0", "p0_seed000", "atr")
    costs = [
        Usage(calls=1, cost_usd=0.25),
        Usage(),
        Usage(calls=1, cost_usd=1.5),
        Usage(calls=1),
    ]
    shown: list[str] = []
    with live_bars(Console(file=io.StringIO(), force_terminal=True), [key]) as bars:
        bars.cell_started(key, len(costs))
        for usage in costs:
            trajectory = Trajectory(
                session_id="s", session_type="test", agent_variant="atr", token_usage={"agent": usage}
            )
            bars.session_done(key, trajectory, reused=False)
            shown.append(bars.bar.tasks[0].description)
    assert shown == ["cells ($0.2500)", "cells ($0.2500)", "cells ($1.75)", "cells (unknown)"]


def _session() -> Trajectory:
    return Trajectory(session_id="s", session_type="test", agent_variant="atr")


def test_the_bar_of_the_sweep_tells_the_time_left_by_the_sessions_that_were_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr("atr_client.cli.live_progress.monotonic", lambda: clock[0])
    keys = [CellKey(f"p{n}", f"p{n}_seed000", "atr") for n in range(4)]
    with live_bars(Console(file=io.StringIO(), force_terminal=True), keys) as bars:

        def left() -> str:
            return TimeLeft().render(bars.bar.tasks[0]).plain

        assert left() == ""
        bars.cell_started(keys[0], 4)
        bars.session_done(keys[0], _session(), reused=True)
        assert left() == ""
        clock[0] += 60
        bars.session_done(keys[0], _session(), reused=False)
        assert left() == "0:14:00 left"
        clock[0] += 60
        assert left() == "0:13:00 left"
        bars.session_done(keys[0], _session(), reused=False)
        bars.session_done(keys[0], _session(), reused=False)
        bars.cell_done(keys[0], {"skipped": True})
        assert left() == "0:08:00 left"
        bars.cell_done(keys[1], {"skipped": True})
        assert left() == "0:05:20 left"
        assert bars.bar.tasks[0].completed == 2


def test_the_time_left_is_on_the_screen(tmp_path: Path) -> None:
    screen = io.StringIO()
    key = CellKey("p0", "p0_seed000", "atr")
    with live_bars(Console(file=screen, force_terminal=True, width=100), [key]) as bars:
        bars.cell_started(key, 2)
        bars.session_done(key, _session(), reused=False)
        bars.bar.refresh()
    assert re.search(r"\d:\d\d:\d\d left", screen.getvalue())


def test_a_long_wait_is_a_line_for_logs_and_above_the_bars() -> None:
    lines: list[str] = []
    Lines(lines.append).model_waits("lab/m1", 42.0, "HTTP 429: [slow] down")
    screen = io.StringIO()
    with live_bars(Console(file=screen, force_terminal=True, width=200), []) as bars:
        bars.model_waits("lab/m1", 4200.0, "HTTP 429: [slow] down")
    assert lines == ["waiting 42 s for lab/m1: HTTP 429: [slow] down"]
    assert "waiting 1 h 10 min for lab/m1: HTTP 429: [slow] down" in screen.getvalue()


def test_warnings_reach_the_terminal_and_everything_reaches_the_log(tmp_path: Path) -> None:
    shown: list[str] = []
    logger = get_logger()
    with terminal_log(shown.append), cell_log(tmp_path / "run.log", "cell-1"):
        logger.info("quiet")
        logger.warning("loud", reason="x")
    logger.warning("elsewhere")
    assert len(shown) == 1
    assert "loud" in shown[0]
    lines = (tmp_path / "run.log").read_text().splitlines()
    assert ["quiet" in lines[0], "loud" in lines[1], len(lines)] == [True, True, 2]


def test_a_torn_line_of_a_killed_run_does_not_spoil_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text('{"event": "to')
    with cell_log(path, "cell-1"):
        get_logger().info("whole")
    assert "whole" in path.read_text().splitlines()[1]
