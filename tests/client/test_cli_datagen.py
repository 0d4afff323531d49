"""The commands `datagen plan`, `report` and `new-persona`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import ROOT
from tests.support.sources import SOURCE

from atr_client.cli import main
from atr_data.datagen.compile import compile_sources

PLAN = ROOT / "data" / "plan.csv"


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(["datagen", *map(str, arguments)])
    code = stopped.value.code or 0
    assert isinstance(code, int)
    return code


def test_report_prints_the_bounds_and_writes_both_forms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_sources(SOURCE, tmp_path / "in")
    assert call("report", "all", "--episodes", tmp_path / "in", "--out", tmp_path / "out") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 59 and sum(line.startswith("pass") for line in lines) == 14
    assert (tmp_path / "out" / "validity.md").read_text().startswith("# Validity report\n")
    assert len(json.loads((tmp_path / "out" / "validity.json").read_text())["bounds"]) == 59


def test_report_fails_when_a_bound_is_not_kept(tmp_path: Path) -> None:
    (path,) = compile_sources(SOURCE, tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Please send it back.", "Please exchange it."), encoding="utf-8")
    assert call("report", "all", "--episodes", tmp_path) == 1


def test_report_of_an_episode_without_tests_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = compile_sources(SOURCE, tmp_path)
    episode = json.loads(path.read_text(encoding="utf-8")) | {"test_sessions": []}
    path.write_text(json.dumps(episode), encoding="utf-8")
    assert call("report", "all", "--episodes", tmp_path) == 2
    assert "nothing to measure" in capsys.readouterr().err


def test_new_persona_starts_a_source_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("new-persona", "rurik_bellamy", "--plan", PLAN, "--sources", tmp_path / "sources")
    assert call(*arguments) == 0
    path = tmp_path / "sources" / "rurik_bellamy.yaml"
    assert capsys.readouterr().out.strip() == str(path)
    path.write_text("mine", encoding="utf-8")
    assert call(*arguments) == 2
    assert "is there already" in capsys.readouterr().err and path.read_text() == "mine"


def test_new_persona_outside_the_plan_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("new-persona", "rurik_bellamie", "--plan", PLAN, "--sources", tmp_path) == 2
    assert "did you mean 'rurik_bellamy'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_plan_without_the_given_persona_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("plan", "--sources", tmp_path, "--out", tmp_path / "plan.csv") == 2
    assert "drawn around odalys_renner" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
