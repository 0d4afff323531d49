"""`atr-client export`: rows that other programs read, and logs that Inspect opens."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import call
from tests.support.finished_run import LEARNING, MODELS, TESTS, VARIANTS, finished_run

SESSIONS = len(MODELS) * ((len(VARIANTS) - 1) * LEARNING + len(VARIANTS) * TESTS)
ASKER = "odalys_renner/seed000/always_ask__model-offline-asker__layer-context__seed000"


def export(out: Path, form: str, *more: object, run: Path | None = None) -> int:
    episodes = finished_run().parent / "episodes"
    return call("export", run or finished_run(), "--format", form, "-o", out, "--episodes", episodes, *more)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_session_and_every_call_is_a_row(tmp_path: Path) -> None:
    assert export(tmp_path, "csv") == 0
    sessions, calls = rows(tmp_path / "sessions.csv"), rows(tmp_path / "calls.csv")
    assert len(sessions) == SESSIONS
    assert {row["session_type"] for row in sessions} == {"learning", "test"}
    assert all(row["domain"] for row in sessions)
    tests = [row for row in sessions if row["session_type"] == "test"]
    assert {row["passed"] for row in tests} == {"true", "false"}
    assert all(row["loss_class"] and row["rule_readable"] for row in tests)
    assert all(row["passed"] == "" for row in sessions if row["session_type"] == "learning")
    for row in sessions:
        own = [c for c in calls if (c["cell_id"], c["session_id"]) == (row["cell_id"], row["session_id"])]
        assert [int(c["number"]) for c in own] == list(range(1, int(row["calls"]) + 1))
    assert all(
        json.loads(c["arguments"]) is not None and c["tool"] and float(c["seconds"]) >= 0 for c in calls
    )


def test_a_missing_test_has_a_row_too(tmp_path: Path) -> None:
    run = shutil.copytree(finished_run(), tmp_path / "run", copy_function=shutil.copy2)
    gone = sorted((run / ASKER / "trajectories").glob("*test*.json"))[0]
    gone.unlink()
    (run / ASKER / "eval.json").unlink()
    assert export(tmp_path / "out", "csv", run=run) == 0
    sessions = rows(tmp_path / "out" / "sessions.csv")
    assert len(sessions) == SESSIONS
    (row,) = [row for row in sessions if row["missing"] == "true"]
    assert (row["session_id"], row["passed"], row["loss_class"]) == (gone.stem, "false", "not_played")


def test_parquet_has_the_same_rows_with_their_kinds(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(tmp_path, "parquet") == export(tmp_path, "csv") == 0
    for name in ("sessions", "calls"):
        table = parquet.read_table(tmp_path / f"{name}.parquet")
        plain = rows(tmp_path / f"{name}.csv")
        assert table.num_rows == len(plain)
        assert table.column_names == list(plain[0])
        assert table["session_id"].to_pylist() == [row["session_id"] for row in plain]
    kinds = {field.name: str(field.type) for field in parquet.read_schema(tmp_path / "sessions.parquet")}
    assert (kinds["passed"], kinds["steps"], kinds["seconds"]) == ("bool", "int64", "double")
    assert not list(tmp_path.glob("*.tmp"))


def test_inspect_reads_its_logs_back(tmp_path: Path) -> None:
    log = pytest.importorskip("inspect_ai.log")
    assert export(tmp_path, "inspect") == 0
    files = log.list_eval_logs(str(tmp_path))
    assert len(files) == len(MODELS) * len(VARIANTS)
    read = {(found.eval.model, found.eval.task): found for found in map(log.read_eval_log, files)}
    found = read["offline/asker", "atr_always_ask"]
    assert found.status == "success"
    assert found.results.total_samples == found.results.completed_samples == LEARNING + TESTS
    scores = {sample.id: sample.scores["atr"].value for sample in found.samples if sample.scores}
    document = json.loads((finished_run() / ASKER / "eval.json").read_text())
    assert scores == {
        f"odalys_renner/{result['session_id']}": "C" if result["task_success"] else "I"
        for result in document["session_results"]
    }
    assert found.results.scores[0].metrics["accuracy"].value == document["metrics"]["payoff_accuracy"]
    sample = next(sample for sample in found.samples if sample.scores)
    path = finished_run() / ASKER / "trajectories" / f"{sample.id.split('/')[1]}.json"
    messages = json.loads(path.read_text())["messages"]
    assert [message.role for message in sample.messages] == [message["role"] for message in messages]
    called = [c.function for m in sample.messages if m.role == "assistant" for c in m.tool_calls or ()]
    assert called == [c["name"] for m in messages for c in m["tool_calls"] or ()]
    assert sample.metadata["loss_class"]


def test_chosen_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(tmp_path, "csv", "--columns", "session_id, passed,tool") == 0
    assert list(rows(tmp_path / "sessions.csv")[0]) == ["session_id", "passed"]
    assert list(rows(tmp_path / "calls.csv")[0]) == ["session_id", "tool"]
    capsys.readouterr()
    assert export(tmp_path / "none", "csv", "--columns", "sesion_id") == 2
    told = capsys.readouterr().err
    assert "there is no column 'sesion_id'; there is session_id" in told
    assert not (tmp_path / "none").exists()
    assert export(tmp_path, "inspect", "--columns", "session_id") == 2


@pytest.mark.parametrize(("form", "package"), [("parquet", "pyarrow"), ("inspect", "inspect_ai.log")])
def test_a_missing_package_is_named(
    form: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    assert export(tmp_path, form) == 2
    assert f"atrbench[{form}]" in capsys.readouterr().err
