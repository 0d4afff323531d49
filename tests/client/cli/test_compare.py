"""`atr-client compare A B`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import call
from tests.support.finished_run import MODELS, VARIANTS, finished_run


def test_a_run_is_like_itself(capsys: pytest.CaptureFixture[str]) -> None:
    finished_run()
    capsys.readouterr()
    assert call("compare", finished_run(), finished_run(), "--format", "json") == 0
    (changes, _) = json.loads(capsys.readouterr().out)["tables"]
    assert len(changes["rows"]) == len(VARIANTS) * len(MODELS)
    assert {(row["difference"], row["won"], row["lost"]) for row in changes["rows"]} == {(0.0, 0, 0)}


def test_people_read_which_tests_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = shutil.copytree(finished_run(), tmp_path / "run", copy_function=shutil.copy2)
    path = next(run.glob("*/_oracle/oracle_target__model-offline-asker*/eval.json"))
    document = json.loads(path.read_text())
    flipped = document["session_results"][0]
    flipped["task_success"] = not flipped["task_success"]
    path.write_text(json.dumps(document))
    capsys.readouterr()
    assert call("compare", finished_run(), run) == 0
    told = capsys.readouterr().out
    assert "tests that changed" in told and flipped["session_id"] in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["nowhere", "nowhere"], "no such folder"), (["."], "Missing argument"), ([".", "."], "no cell here")],
)
def test_mistakes_are_told_in_a_line(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("compare", *arguments) == 2
    assert told in capsys.readouterr().err
