"""Work on many cells in several processes: order, failures, and that nothing is left behind."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys, time
from pathlib import Path
from atr_client.errors import CellError
from atr_client.outputs.in_processes import in_processes
from atr_client.outputs.layout import CellFolder

os.sched_getaffinity = lambda pid: range(3)
cells = [CellFolder(Path(f"root/persona{n // 5}/seed000/cell{n}")) for n in range(240)]
parent = os.getpid()
def work(cell):
    time.sleep(0.001)
    DOES
    return os.getpid(), cell.path.parent.parent.name, cell.path.name
try:
    found = in_processes(work, cells)
except BaseException as error:
    print(type(error).__name__, error)
else:
    print([name for _, _, name in found] == [cell.path.name for cell in cells])
    print(len({pid for pid, _, _ in found}), len({(pid, persona) for pid, persona, _ in found}))
try:
    os.waitpid(-1, os.WNOHANG)
    print("somebody is left")
except ChildProcessError:
    pass
"""


def printed(does: str = "pass") -> list[str]:
    command = [sys.executable, "-c", SCRIPT.replace("DOES", does)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_results_come_in_order_and_a_persona_stays_with_one_process() -> None:
    assert printed() == ["True", "3 48"]


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("if cell.path.name == 'cell0': raise OSError(5, 'bad', 'f')", "OSError [Errno 5] bad: 'f'"),
        ("if os.getpid() != parent: raise OSError(5, 'bad', 'f')", "OSError [Errno 5] bad: 'f'"),
        (
            "if os.getpid() != parent: os.kill(os.getpid(), signal.SIGKILL)",
            "CellError a process died before it was done with its cells",
        ),
        ("if os.getpid() == parent: raise KeyboardInterrupt('now')", "KeyboardInterrupt now"),
        (
            "if os.getpid() != parent: raise KeyboardInterrupt",
            "CellError a process died before it was done with its cells",
        ),
    ],
    ids=["here", "beside", "killed", "interrupted here", "interrupted beside"],
)
def test_what_goes_wrong_anywhere_is_told_here(does: str, told: str) -> None:
    assert printed(does) == [told]
