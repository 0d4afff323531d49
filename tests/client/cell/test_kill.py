"""`kill -9` at any instant, then the same command: nothing finished is lost or repeated."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from atr_data import load_trajectory
from atr_data.calls import SessionEnd, SessionStart, read_calls
from tests.conftest import ROOT

SWEEP = """
import sys
from pathlib import Path

import anyio

from atr_client.cell.definition import CellOptions
from atr_client.sweep.sweep_runner import run_sweep

from tests.support.cells import Player, small_cell

outputs, seconds = Path(sys.argv[1]), float(sys.argv[2])
options = CellOptions(test_sessions=3)
players = [Player("atr", seconds=seconds) for _ in range(2)]
cells = [
    small_cell(outputs, persona=f"p{n}", player=player, options=options, learning=6, tests=8)
    for n, player in enumerate(players)
]
print("ready", flush=True)
report = anyio.run(lambda: run_sweep(cells, at_once=2))
print(report.exit_code, flush=True)
"""
SESSIONS = [f"l{n}" for n in range(6)] + [f"t{n}" for n in range(8)]
KILLS = 3


def _start(outputs: Path, seconds: float = 0.02) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", SWEEP, str(outputs), str(seconds)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _kill(process: subprocess.Popen[str]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def _cells(outputs: Path) -> list[Path]:
    return sorted(path.parent for path in outputs.rglob("trajectories"))


def _finished(cell: Path) -> dict[str, str]:
    """Every trajectory on disk, each of which must be whole."""
    return {
        path.stem: load_trajectory(path).messages[0].timestamp
        for path in (cell / "trajectories").glob("*.json")
    }


def test_killing_a_sweep_again_and_again_loses_and_repeats_nothing(tmp_path: Path) -> None:
    chance = random.Random(7)
    finished: dict[Path, dict[str, str]] = {}
    for _ in range(KILLS):
        process = _start(tmp_path)
        time.sleep(chance.uniform(0.0, 0.35))
        _kill(process)
        for cell in _cells(tmp_path):
            now = _finished(cell)
            before = finished.get(cell, {})
            assert before.items() <= now.items()
            finished[cell] = now
    process = _start(tmp_path)
    output, _ = process.communicate(timeout=60)
    assert output == "0\n"
    assert len(_cells(tmp_path)) == 2
    for cell in _cells(tmp_path):
        now = _finished(cell)
        assert sorted(now) == SESSIONS
        assert finished.get(cell, {}).items() <= now.items()
        assert json.loads((cell / "_cell_done.json").read_text())["ok"] is True
        assert not list(cell.rglob("*.tmp"))
        _check_log(cell / "calls.jsonl")


def _check_log(path: Path) -> None:
    """A session that was finished is never started again, and each has one end."""
    ended: list[str] = []
    for record in read_calls(path):
        if isinstance(record, SessionStart):
            assert record.session_id not in ended
        elif isinstance(record, SessionEnd):
            ended.append(record.session_id)
    assert sorted(ended) == SESSIONS


def test_a_second_process_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    first = _start(tmp_path, seconds=5.0)
    try:
        deadline = time.monotonic() + 30
        while not _cells(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.01)
        second = subprocess.run(
            [sys.executable, "-c", SWEEP, str(tmp_path), "0"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert first.poll() is None, "the first process must still be at work"
        assert second.returncode != 0
        assert "another process is writing to" in second.stderr
    finally:
        _kill(first)
