"""A copy of the source tree that a trial may change, and tests run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

ROOMS = tuple(sorted(path.parents[1].name for path in ROOT.glob("*/atr_*/__init__.py")))


def copy_tree(folder: Path) -> Path:
    """The tree without its history, environment and leftovers."""

    def left_out(parent: str, names: list[str]) -> set[str]:
        at_the_top = ("build", "dist", "outputs") if Path(parent) == ROOT else ()
        return {name for name in names if name.startswith(".") or name in ("__pycache__", *at_the_top)}

    return Path(shutil.copytree(ROOT, folder / "copy", ignore=left_out))


def replace(path: Path, old: str, new: str) -> None:
    """Puts a text in the first place of another."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path} has no {old!r}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def run_tests(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest in the copy, on the copy's own packages and against no vectors."""
    path = os.pathsep.join(str(copy / room) for room in ROOMS)
    environment = {**os.environ, "PYTHONPATH": path, "ATR_CONFORMANCE_DIR": str(copy / "none")}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=280)
