"""A sweep in several processes makes the same files, however often it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.command import run_cli, write_config
from tests.support.limits import PATIENCE
from tests.support.object_store import ObjectStore
from tests.support.provider_script import short_quickstart
from tests.support.run_tree import run_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forks, which are for Linux")

# One program that is imported once and forks a sweep for each of its lives.
LIVES = """
import os
import random
import signal
import sys
import time
from pathlib import Path

from atr_client.outputs.cell_lock import is_busy
from atr_client.cell.definition import CellOptions
from atr_client.cell.progress import Silent
from atr_client.sweep.cell_queue import CellQueue
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.processes import Workers
from atr_client.sweep.sweep_runner import SweepReport

from tests.support.cells import Player, small_cell

outputs, kills = Path(sys.argv[1]), int(sys.argv[2])
chance = random.Random(11)


def cells():
    options = CellOptions(test_sessions=3)
    return [
        small_cell(
            outputs, persona=f"p{n}", player=Player("atr", seconds=0.03), options=options, learning=4, tests=5
        )
        for n in range(4)
    ]


def live():
    planned = cells()
    report = SweepReport([cell.key for cell in planned])
    workers = Workers(planned, CellQueue(planned, 4))
    workers.start(2, ModelClients())
    workers.play(Silent(), report, print)
    return report.exit_code


interrupted = 0
for _ in range(kills):
    life = os.fork()
    if not life:
        os._exit(live())
    time.sleep(chance.uniform(0.0, 0.15))
    os.kill(life, signal.SIGKILL)
    _, status = os.waitpid(life, 0)
    interrupted += os.WIFSIGNALED(status)
    deadline = time.monotonic() + 10
    while any(is_busy(cell.folder) for cell in cells()) and time.monotonic() < deadline:
        time.sleep(0.002)
print(interrupted, live(), flush=True)
"""
KILLS = 50
TWO = ("--set", "processes=2")


def _lives(outputs: Path, kills: int) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-c", LIVES, str(outputs), str(kills)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def test_fifty_kills_leave_what_an_undisturbed_sweep_leaves(tmp_path: Path) -> None:
    interrupted, exit_code = _lives(tmp_path / "killed", KILLS)
    assert exit_code == 0
    assert interrupted >= 10, "too few of the kills met a sweep under way"
    assert _lives(tmp_path / "undisturbed", 0) == [0, 0]
    killed, undisturbed = run_tree(tmp_path / "killed"), run_tree(tmp_path / "undisturbed")
    assert killed.keys() == undisturbed.keys()
    for name, content in undisturbed.items():
        assert killed[name] == content, name
    assert len([name for name in killed if "trajectories" in name]) == 4 * 9


def _run(outputs: Path, config: Path, processes: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "atr_client.cli", "run", "--config", str(config)]
    options = ["--outputs", str(outputs), "--set", f"processes={processes}", "--no-progress"]
    return subprocess.Popen([*command, *options], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_request_to_stop_reaches_every_process_and_the_same_command_goes_on(tmp_path: Path) -> None:
    chosen = {"models": ["offline/naive"], "variants": ["atr", "default"], "limits": {"cells": 2}}
    config, outputs = write_config(tmp_path, **chosen), tmp_path / "o"
    kept: dict[str, str] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        process = _run(outputs, config, 2)
        deadline = time.monotonic() + 60
        while len(_trajectories(outputs)) <= len(kept) and time.monotonic() < deadline:
            time.sleep(0.01)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(process.pid, number)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "run the same command to resume" in told
        assert len(children) == 2
        assert not any(Path(f"/proc/{child}").exists() for child in children)
        now = _trajectories(outputs)
        assert kept.items() <= now.items()
        kept = now
    again = _run(outputs, config, 2)
    again.communicate(timeout=120)
    assert again.returncode == 0
    assert kept.items() <= _trajectories(outputs).items()
    assert len(list(outputs.rglob("_cell_done.json"))) == 2


@pytest.mark.parametrize("kind", ["file", "s3"])
def test_two_processes_and_an_address_for_the_results(tmp_path: Path, kind: str) -> None:
    """An address of a folder is a folder; with a store one process plays, and says so."""
    episodes = short_quickstart(tmp_path / "episodes", learning=0, tests=slice(0, 1))
    chosen = {"models": ["offline/naive"], "variants": ["atr", "default"], "limits": {"cells": 2}}
    command = ["run", "--config", write_config(tmp_path, **chosen), "--episodes", episodes, "--no-progress"]
    assert run_cli(*command, "--outputs", tmp_path / "here").exit_code == 0
    with ObjectStore() as store, pytest.MonkeyPatch.context() as patch:
        store.be_known(patch)
        place = store.address("two") if kind == "s3" else f"file://{tmp_path / 'o'}"
        for told in ("start ", "kept "):
            done = subprocess.run(
                [sys.executable, "-m", "atr_client.cli", *map(str, command), "--outputs", place, *TWO],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            assert done.returncode == 0, done.stderr
            assert done.stderr.count(told) == 2
            assert ("warning: processes: with results in a store" in done.stderr) == (kind == "s3")
        if kind == "s3":
            assert run_cli("fetch", place, tmp_path / "o").exit_code == 0
    assert run_tree(tmp_path / "o") == run_tree(tmp_path / "here")


def _trajectories(outputs: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in outputs.rglob("trajectories/*.json")}
