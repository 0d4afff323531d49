"""A finished run that was moved, copied, named otherwise or damaged is read from the folder at hand."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cells import small_episode
from tests.support.command import call

CELL = "default__model-offline-noop__layer-context__seed000"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with `episodes`, `run.yaml` and the outputs `out` of an agent that passes nothing."""
    (tmp_path / "episodes").mkdir()
    (tmp_path / "episodes" / "pp_a_seed000.json").write_text(small_episode().model_dump_json())
    keys = {"name": "x", "variants": ["default"], "models": ["offline/noop"]}
    (tmp_path / "run.yaml").write_text(json.dumps(keys))
    assert again(tmp_path, tmp_path / "out") == 0
    return tmp_path


def again(folder: Path, outputs: Path | str) -> int:
    places = ["--episodes", folder / "episodes", "--outputs", outputs]
    return call("run", "--no-progress", "--config", folder / "run.yaml", *places)


def cell_of(outputs: Path) -> Path:
    (found,) = outputs.rglob("_cell_done.json")
    return found.parent


def made_to_pass(cell: Path) -> None:
    """Writes a right call into the test `t0` of a cell, as if another agent had played it."""
    path = cell / "trajectories" / "t0.json"
    document = json.loads(path.read_text())
    turn = next(message for message in document["messages"] if message["role"] == "assistant")
    turn["tool_calls"] = [
        {"id": "z", "name": "archive_files", "arguments": {}, "requestor": "assistant", "parse_error": None}
    ]
    path.write_text(json.dumps(document))


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    """The first line of the result table."""
    return next(line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("all"))


def test_a_copy_beside_its_origin_shows_its_own_scores(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(run / "out", run / "copy")
    made_to_pass(cell_of(run / "copy"))
    capsys.readouterr()
    assert call("score", run / "copy", "--no-cross-check") == 0
    assert "50.0 (2)" in shown(capsys)
    assert call("score", run / "out") == 0
    assert "0.0 (2)" in shown(capsys)
    assert again(run, run / "copy") == 3
    assert "50.0 (2)" in shown(capsys)


@pytest.mark.parametrize("spelling", ["moved", "moved/../moved", "link"])
def test_a_moved_run_scores_and_goes_on(
    run: Path, spelling: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (run / "out").rename(run / "moved")
    (run / "link").symlink_to(run / "moved")
    monkeypatch.chdir(run)
    assert call("score", spelling) == 0
    assert again(run, spelling) == 0
    assert "kept pp_a" in capsys.readouterr().err
    assert json.loads(next((run / "moved" / "_summary").glob("runner*")).read_text())["n_cells_ok"] == 1


def test_one_cell_under_two_names_is_scored_once(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = cell_of(run / "out")
    assert call("score", cell, cell / ".." / cell.name, run / "out") == 0
    assert "(2)" in shown(capsys) and "(4)" not in capsys.readouterr().out


def test_an_episode_that_was_moved_too_is_looked_for_by_its_content(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "episodes").rename(run / "elsewhere")
    assert call("score", run / "out") == 1
    assert "give it with --episode FILE or --episodes DIR" in capsys.readouterr().out
    assert call("score", run / "out", "--episodes", run / "elsewhere") == 0
    assert call("score", run / "out", "--episode", run / "elsewhere" / "pp_a_seed000.json") == 0
    other = run / "other.json"
    other.write_text(small_episode("pp_b").model_dump_json())
    assert call("score", run / "out", "--episode", other) == 1
    assert "holds episode pp_b_seed000, the cell is of pp_a_seed000" in capsys.readouterr().out


def test_another_file_at_the_recorded_place_is_no_episode_of_the_cell(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run / "episodes" / "pp_a_seed000.json"
    shutil.copytree(run / "episodes", run / "kept")
    path.write_text(path.read_text().replace("do 0", "do something else"))
    assert call("score", run / "out", "--episodes", run / "kept") == 0
    assert "has changed" not in capsys.readouterr().err
    assert call("score", run / "out") == 0
    assert "has changed" in capsys.readouterr().err


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    "{}": lambda path: path.write_text("{}"),
    "cut off": lambda path: path.write_text(path.read_text()[:40]),
    "binary": lambda path: path.write_bytes(b"\xff\x00"),
    "deep": lambda path: path.write_text("[" * 100_000),
    "a list": lambda path: path.write_text("[]"),
    "bare ok": lambda path: path.write_text('{"ok": true}'),
    "wrong types": lambda path: path.write_text(path.read_text().replace("false", '"x"').replace("0", '"y"')),
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.parametrize("name", ["eval.json", "_cell_done.json"])
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_score_or_marker_is_made_again(
    run: Path, name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = cell_of(run / "out")
    evaluation = (cell / "eval.json").read_bytes()
    played = {path: path.read_bytes() for path in cell.glob("trajectories/*")}
    DAMAGE[kind](cell / name)
    capsys.readouterr()
    if kind == "folder":
        assert again(run, run / "out") == 1
        printed = capsys.readouterr().out
        assert "Is a directory" in printed and str(cell / name) in printed
        return
    assert again(run, run / "out") == 0
    assert "0.0 (2)" in shown(capsys)
    assert (cell / "eval.json").read_bytes() == evaluation
    assert json.loads((cell / "_cell_done.json").read_text())["ok"] is True
    assert {path: path.read_bytes() for path in cell.glob("trajectories/*")} == played


@pytest.mark.parametrize("kind", [kind for kind in DAMAGE if kind not in ("wrong types", "folder")])
def test_a_damaged_manifest_counts_as_none(run: Path, kind: str) -> None:
    cell = cell_of(run / "out")
    DAMAGE[kind](cell / "cell_manifest.json")
    episode = run / "episodes" / "pp_a_seed000.json"
    assert call("score", cell) == 1
    assert call("score", cell, "--episode", episode, "--variant", "default") == 0
    assert call("estimate", "--config", run / "run.yaml", "--outputs", run / "out") == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("episode_path", 5),
        ("episode_path", "a\0b"),
        ("episode_path", ["x"]),
        ("episode_id", {}),
        ("seed", "x"),
        ("shuffle_references", "x"),
        ("variant", 7),
        ("model", None),
        ("memory_layer", 3),
        ("stale_fields", "x"),
    ],
)
def test_a_field_of_a_wrong_kind_counts_as_not_said(run: Path, field: str, value: object) -> None:
    cell = cell_of(run / "out")
    path = cell / "cell_manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    episode = run / "episodes" / "pp_a_seed000.json"
    assert call("score", cell, "--episode", episode, "--variant", "default") == 0
    assert call("verify", cell, "--episode", episode) in (0, 1, 3)


def test_a_score_that_is_older_than_its_trajectories_is_made_again(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made_to_pass(cell_of(run / "out"))
    capsys.readouterr()
    assert again(run, run / "out") == 3
    assert "50.0 (2)" in shown(capsys)
