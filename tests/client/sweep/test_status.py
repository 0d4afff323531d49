"""How far a sweep is: told while it runs, and by its files."""

from __future__ import annotations

import json
from pathlib import Path

import anyio

from atr_client.cell.cell_runner import run_cell
from atr_client.cli.live_progress import Lines
from atr_client.errors import CellAbort
from atr_client.sweep.sweep_runner import run_sweep
from atr_client.sweep.tally import Tally
from atr_data.trajectory import InteractionEvent, Trajectory
from atr_data.usage import Usage
from tests.support.cells import Player, small_cell
from tests.support.command import run_cli


def _session(tokens: int = 10) -> Trajectory:
    events = [
        InteractionEvent(kind="route_decision", turn_idx=2, route="rule"),
        InteractionEvent(kind="cls_verdict", turn_idx=2, rule_id="r"),
        InteractionEvent(kind="route_decision", turn_idx=4, route="rule"),
        InteractionEvent(kind="cls_verdict", turn_idx=4),
    ]
    usage = {"agent": Usage(prompt_tokens=tokens, completion_tokens=1, calls=1, cost_usd=0.5)}
    return Trajectory(
        session_id="s",
        session_type="learning",
        agent_variant="atr",
        interaction_events=events,
        token_usage=usage,
    )


def test_a_tally_tells_all_there_is_and_foresees_by_what_was_played() -> None:
    now = [0.0]
    tally = Tally(cells=2, sessions=10, clock=lambda: now[0])
    assert tally.line == "0/2 cells, 0/10 sessions"
    tally.session(_session(), reused=True)
    assert tally.seconds_left is None
    now[0] = 20.0
    tally.session(_session(1989), reused=False)
    tally.session(_session(), reused=False)
    tally.cell({"ts_pass": 1, "ts_total": 4})
    assert tally.line == (
        "1/2 cells, 3/10 sessions, 25% of 4 passed, 3 hits of 6 asks, 2,012 tokens, 0.1 sessions/s, "
        "cost $1.50, 0:01:10 left"
    )


def test_a_cell_that_is_kept_counts_with_its_sessions() -> None:
    tally = Tally(cells=2, sessions=10)
    tally.cell({"skipped": True, "ts_pass": 2, "ts_total": 2}, sessions=5)
    assert tally.line == "1/2 cells, 5/10 sessions, 100% of 2 passed"


async def test_plain_lines_tell_how_far_the_sweep_is_and_the_time_left(tmp_path: Path) -> None:
    cells = [small_cell(tmp_path, persona=f"p{n}") for n in range(2)]
    lines: list[str] = []
    await run_sweep(cells, progress=Lines(lines.append, Tally(2, 10)))
    ends = [line for line in lines if not line.startswith("start")]
    assert "(1/2 cells, 5/10 sessions, 0% of 2 passed, " in ends[0]
    assert " left)" in ends[0]
    assert "(2/2 cells, 10/10 sessions, 0% of 4 passed, " in ends[1]


def test_the_files_tell_the_same_from_another_shell(tmp_path: Path) -> None:
    episodes, outputs = tmp_path / "episodes", tmp_path / "o"
    episodes.mkdir()
    broken = Player("atr", faults={"l2": CellAbort("agent", "l2", "gone")})
    cells = [small_cell(outputs, persona="p0"), small_cell(outputs, persona="p1", player=broken)]
    for cell in cells:
        (episodes / f"{cell.episode.episode_id}.json").write_text(cell.episode.model_dump_json())
    anyio.run(run_sweep, cells)
    done = run_cli("status", outputs, "--episodes", episodes)
    assert done.exit_code == 3
    assert (
        f"broken off {cells[1].key.cell_id} (2/5 sessions): agent failed in session l2: gone" in done.stdout
    )
    assert done.stdout.splitlines()[-1] == "1/2 cells, 7/10 sessions, 0% of 2 passed"
    anyio.run(run_cell, small_cell(outputs, persona="p1"))
    done = run_cli("status", outputs, "--episodes", episodes)
    assert (done.exit_code, done.stdout) == (0, "2/2 cells, 10/10 sessions, 0% of 4 passed\n")


def test_a_status_writes_nothing_and_passes_over_what_is_damaged(tmp_path: Path) -> None:
    cell = small_cell(tmp_path / "o")
    anyio.run(run_cell, cell)
    cell.folder.trajectory("t0").write_text("{")
    cell.folder.done.write_text(json.dumps([]))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = run_cli("status", tmp_path / "o")
    assert done.exit_code == 3
    assert done.stdout.startswith(f"begun {cell.key.cell_id} (4/4 sessions)")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_folder_without_cells_is_a_mistake(tmp_path: Path) -> None:
    done = run_cli("status", tmp_path)
    assert done.exit_code == 2
    assert "there is no cell here" in done.stderr
