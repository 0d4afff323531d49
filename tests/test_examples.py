"""The examples run as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.command import call

EXAMPLES = ROOT / "examples"


def _run(name: str, *arguments: str | Path) -> str:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_domain_server_is_driven() -> None:
    lines = _run("drive_a_domain_server.py").splitlines()
    assert "'count': 2" in lines[1]
    assert "'total': 45.0" in lines[2]
    assert lines[3].startswith("refused: True")


def test_a_model_function_plays_a_whole_episode() -> None:
    assert _run("play_your_own_model.py").splitlines() == ["42 sessions played", "passed 0 of 14"]


def test_a_folder_is_scored(tmp_path: Path) -> None:
    only = ("--variant", "oracle_target", "--model", "offline/gold")
    assert call("run", "--config", "quickstart", *only, "--outputs", tmp_path) == 0
    (cell,) = tmp_path.glob("*/_oracle/*")
    episode = ROOT / "data" / "episodes" / "odalys_renner_seed000.json"
    lines = _run("score_a_folder.py", episode, cell, "oracle_target").splitlines()
    assert lines == ["14 trajectories", "test-session accuracy 1.0"]


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_tried_here_or_in_the_client_that_it_is_for(example: Path) -> None:
    tries = [Path(__file__), *(ROOT / "tests" / "clients").glob("*.py")]
    assert any(example.name in path.read_text(encoding="utf-8") for path in tries)
