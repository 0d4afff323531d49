"""`atr-client table`: a run's figures in four formats, and what it says of runs that are not whole."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from atr_client.cli.results_group import FORMAT_NAMES, TABLE_NAMES
from atr_evaluator import aggregate
from atr_evaluator.aggregate.formats import FORMATS
from tests.support.command import call
from tests.support.finished_run import TESTS, VARIANTS, finished_run

DEFAULT = "odalys_renner/seed000/default__model-offline-asker__layer-context__seed000"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return shutil.copytree(finished_run(), tmp_path / "run", copy_function=shutil.copy2)


def tables(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[dict[str, Any], str]:
    capsys.readouterr()
    assert call("table", *arguments, "--format", "json") == 0
    told = capsys.readouterr()
    return {one["name"]: one for one in json.loads(told.out)["tables"]}, told.err


def test_every_variant_is_scored_and_the_gap_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    found, warnings = tables(capsys, finished_run())
    assert warnings == ""
    accuracy = {
        (row["model"], row["variant"]): row for row in found["accuracy"]["rows"] if row["measure"] == "all"
    }
    assert {variant for _, variant in accuracy} == set(VARIANTS)
    assert all(
        row["count"] == TESTS and row["low"] <= row["value"] <= row["high"] for row in accuracy.values()
    )
    points = {row["measure"]: row["value"] for row in found["gap"]["rows"] if row["model"] == "offline/asker"}
    default, oracle = (accuracy["offline/asker", name]["value"] for name in ("default", "oracle_target"))
    gap = points.pop("gap")
    assert gap == pytest.approx(oracle - default)
    assert gap > 0
    assert sum(points.values()) == pytest.approx(gap)
    assert not {"unknown", "not_played"} & set(points)
    assert "unfinished" not in found
    assert "best rule-blind" in {row["measure"] for row in found["accuracy"]["rows"]}


def test_the_formats(capsys: pytest.CaptureFixture[str]) -> None:
    finished_run()
    texts: dict[str, str] = {}
    for form in ("md", "csv", "latex"):
        capsys.readouterr()
        assert call("table", finished_run(), "--format", form) == 0
        texts[form] = capsys.readouterr().out
    assert "| all |" in texts["md"] and "## where points are lost" in texts["md"]
    assert "\\begin{tabular}" in texts["latex"]
    rows = list(csv.DictReader(io.StringIO(texts["csv"])))
    assert {row["variant"] for row in rows if row["table"] == "losses"} == set(VARIANTS)


def test_a_cell_that_is_not_whole_is_listed_and_stays(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half a file: the older score no longer counts, and the test is missing."""
    torn = (
        next((run / DEFAULT / "trajectories").glob("*test*.json"), None)
        or sorted((run / DEFAULT / "trajectories").iterdir())[-1]
    )
    torn.write_text(torn.read_text()[:200])
    found, _ = tables(capsys, run, "--episodes", finished_run().parent / "episodes")
    (row,) = found["unfinished"]["rows"]
    assert row["cell"] == DEFAULT
    assert torn.name in row["problem"] and torn.stem in row["problem"].split("missing:")[1]
    all_of_them = [
        row
        for row in found["accuracy"]["rows"]
        if (row["measure"], row["variant"], row["model"]) == ("all", "default", "offline/asker")
    ]
    assert [row["count"] for row in all_of_them] == [TESTS]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("_cell_aborted.json", '{"error": "agent: no key"}', "broken off: agent: no key"),
        ("cell_manifest.json", None, "its version is 7, this program reads 1"),
    ],
)
def test_a_cell_without_a_score_is_listed_with_the_reason(
    run: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | None, told: str
) -> None:
    path = run / DEFAULT / name
    path.write_text(content or json.dumps(json.loads(path.read_text()) | {"version": 7}))
    (row,) = tables(capsys, run)[0]["unfinished"]["rows"]
    assert (row["cell"], row["state"]) == (DEFAULT, "without a score")
    assert told in row["problem"]


def test_a_score_of_an_older_scorer_is_made_anew_in_memory(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run / DEFAULT / "eval.json"
    old = json.loads(path.read_text())
    path.write_text(json.dumps({**old, "scorer_version": "0", "session_results": []}))
    found, _ = tables(capsys, run, "--only", "accuracy")
    assert list(found) == ["accuracy"]
    counts = {row["count"] for row in found["accuracy"]["rows"] if row["measure"] == "all"}
    assert counts == {TESTS}
    assert json.loads(path.read_text())["scorer_version"] == "0"


def test_an_episode_that_changed_since_is_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The score is of an older scorer, so that the episode is read again."""
    (episode,) = (finished_run().parent / "episodes").glob("*.json")
    document = json.loads(episode.read_text())
    document["rules"][0]["rule_text"] = "another"
    changed = tmp_path / "changed" / episode.name
    changed.parent.mkdir()
    changed.write_text(json.dumps(document))
    manifest = run / DEFAULT / "cell_manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"episode_path": str(changed)}))
    (run / DEFAULT / "eval.json").unlink()
    (row,) = tables(capsys, run, "--only", "unfinished")[0]["unfinished"]["rows"]
    assert row["problem"] == f"{changed} has changed since the cell was run"


def test_a_model_that_was_shown_the_answers_is_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run / DEFAULT / "cell_manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"privileged": True}))
    assert "offline/asker was shown the answers" in tables(capsys, run)[1]


def test_two_sweeps_in_one_folder_are_refused(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(run, tmp_path / "more" / "again")
    run.rename(tmp_path / "more" / "first")
    assert call("table", tmp_path / "more") == 2
    told = capsys.readouterr().err
    assert "two sweeps in one folder" in told and "again" in told and "first" in told


def test_cells_that_were_made_unlike_are_told(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run / DEFAULT / "cell_manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"max_steps": 7}))
    assert "offline/asker were made with unlike max_steps" in tables(capsys, run)[1]


def test_the_command_offers_what_there_is() -> None:
    assert (FORMAT_NAMES, TABLE_NAMES) == (aggregate.FORMAT_NAMES, aggregate.TABLE_NAMES)
    assert set(FORMATS) == set(FORMAT_NAMES)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "nowhere: no such folder"),
        (["."], "there is no cell here"),
        ([".", "--format", "pdf"], "'pdf' is not one of"),
        ([".", "--only", "acuracy"], "'acuracy' is not one of"),
        ([], "Missing argument"),
    ],
)
def test_mistakes_are_told_in_a_line(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("table", *arguments) == 2
    error = capsys.readouterr().err
    assert told in error and "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "form"),
    [
        (("table",), "md"),
        (("table",), "latex"),
        (("table",), "csv"),
        (("table",), "json"),
        (("compare",), "md"),
    ],
)
def test_every_table_tells_that_the_user_was_offline(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str], form: str
) -> None:
    folders = [finished_run()] * (2 if arguments == ("compare",) else 1)
    capsys.readouterr()
    assert call(*arguments, *folders, "--format", form) == 0
    assert "offline, Classifier ." in capsys.readouterr().out
