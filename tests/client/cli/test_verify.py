"""Trajectories and call log tell the same, and a fresh environment gives what the log says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import call, write_config
from tests.support.provider_script import short_quickstart

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    episodes = short_quickstart(folder / "episodes", learning=2, tests=slice(0, 4))
    config = write_config(folder, variants=["atr", "oracle_target"], models=["offline/asker"])
    places = ["--config", config, "--episodes", episodes, "--outputs", folder / "out"]
    assert call("run", "--no-progress", *places) == 0
    return folder / "out"


@pytest.fixture
def cell(outputs: Path, tmp_path: Path) -> Path:
    """A copy of the cell of the variant `atr`."""
    (found,) = outputs.rglob("atr__*")
    return Path(shutil.copytree(found, tmp_path / "cell"))


def evaluation(cell: Path) -> dict[str, Any]:
    return json.loads((cell / "eval.json").read_text())


def a_test(cell: Path) -> Path:
    """A test session in which the agent calls tools."""
    return next(p for p in sorted((cell / "trajectories").glob("*_test.json")) if calls_of(p))


def calls_of(path: Path) -> list[dict[str, Any]]:
    messages = json.loads(path.read_text())["messages"]
    return [c for m in messages for c in m["tool_calls"] or () if c["name"] != "finish_session"]


def edit(path: Path, change: Change) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def edit_log(cell: Path, change: Change, session: str) -> None:
    """Changes the first call of an agent in a session."""
    path = cell / "calls.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    change(next(r for r in records if r.get("caller") == "agent" and r["session_id"] == session))
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def turns(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (message for message in document["messages"] if message["tool_calls"])


def first_call(document: dict[str, Any]) -> dict[str, Any]:
    return next(turns(document))["tool_calls"][0]


def answer(document: dict[str, Any]) -> dict[str, Any]:
    return next(message for message in document["messages"] if message["role"] == "tool")


def test_a_run_as_it_was_played_is_verified_by_run_score_and_verify(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in outputs.rglob("*") if path.is_file()}
    for path in outputs.rglob("eval.json"):
        assert (evaluation(path.parent)["verified"], evaluation(path.parent)["differences"]) == (True, [])
    for path in outputs.rglob("_cell_done.json"):
        assert json.loads(path.read_text())["verified"] is True
    assert call("verify", outputs) == 0
    printed = capsys.readouterr().out
    assert printed.count("rescored=true consistent=true replayed=true") == 2
    assert {path: path.read_bytes() for path in outputs.rglob("*") if path.is_file()} == before
    assert call("score", outputs) == 0


TRANSCRIPT: dict[str, tuple[Change, str]] = {
    "arguments": (lambda d: first_call(d)["arguments"].update(query="other"), "its arguments differ"),
    "true for one": (lambda d: first_call(d).update(arguments={"limit": True}), "its arguments differ"),
    "tool": (lambda d: first_call(d).update(name="cancel_order"), "the trajectory has cancel_order"),
    "result": (lambda d: answer(d).update(content='{"ok": true}'), "its result differs"),
    "error": (lambda d: answer(d).update(tool_error=not answer(d)["tool_error"]), "one of both says"),
    "no result": (lambda d: answer(d).update(tool_call_id="gone"), "the trajectory has no result"),
    "turn": (lambda d: next(turns(d)).update(turn_idx=99), "it stands in turn 99"),
    "id": (lambda d: (first_call(d).update(id="q"), answer(d).update(tool_call_id="q")), "its id is 'q'"),
    "one more": (
        lambda d: next(turns(d))["tool_calls"].append({"id": "n", "name": "cancel_order", "arguments": {}}),
        "cancel_order",
    ),
    "one more at the end": (
        lambda d: list(turns(d))[-1]["tool_calls"].append(
            {"id": "n", "name": "cancel_order", "arguments": {}}
        ),
        "(cancel_order) is not in the call log",
    ),
    "one less": (lambda d: next(turns(d)).update(tool_calls=[]), "call 1"),
    "variant": (lambda d: d.update(agent_variant="oracle_target"), "is of variant 'oracle_target'"),
    "context": (lambda d: d.update(context_sha256="0" * 64), "its memory text is not"),
    "another session": (lambda d: d.update(session_id="ghost"), "holds this session"),
}


@pytest.mark.parametrize("kind", TRANSCRIPT)
def test_a_forged_transcript_is_told_and_exit_3(
    kind: str, cell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, told = TRANSCRIPT[kind]
    edit(a_test(cell), change)
    assert call("score", cell, "--no-strict") == 3
    assert evaluation(cell)["verified"] is False
    (difference,) = evaluation(cell)["differences"]
    assert told in difference["what"]
    printed = capsys.readouterr().out
    assert f"not verified: {difference}"[:13] in printed and told in printed
    assert call("verify", cell) == 3
    assert "consistent=false" in capsys.readouterr().out
    assert call("score", cell, "--no-strict", "--no-cross-check") == 0
    assert (evaluation(cell)["verified"], evaluation(cell)["differences"]) == (None, [])


LOG: dict[str, Change] = {
    "arguments": lambda r: r["arguments"].update(query="other"),
    "tool": lambda r: r.update(tool="cancel_order"),
    "result": lambda r: r.update(result='{"ok": true}'),
    "error": lambda r: r.update(is_error=not r["is_error"]),
    "turn": lambda r: r.update(turn_idx=99),
    "id": lambda r: r.update(call_id="q"),
    "caller": lambda r: r.update(caller="harness"),
}


@pytest.mark.parametrize("kind", LOG)
def test_a_forged_log_is_told_too(kind: str, cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit_log(cell, LOG[kind], a_test(cell).stem)
    assert call("score", cell) == 3
    assert [d["session_id"] for d in evaluation(cell)["differences"]] == [a_test(cell).stem]


def test_a_call_that_only_the_log_has_is_told(cell: Path) -> None:
    path, name = cell / "calls.jsonl", a_test(cell).stem
    lines = path.read_text().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if f'"{name}"' in line and '"agent"' in line)
    path.write_text("".join([*lines[: last + 1], lines[last], *lines[last + 1 :]]))
    assert call("score", cell) == 3
    assert "of the call log (" in evaluation(cell)["differences"][0]["what"]


def test_a_session_whose_end_the_log_does_not_tell_is_told(cell: Path) -> None:
    path, name = cell / "calls.jsonl", a_test(cell).stem
    lines = path.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not (f'"{name}"' in line and '"session_end"' in line)]
    path.write_text("".join(kept))
    assert len(kept) == len(lines) - 1
    assert call("score", cell) == 3
    (difference,) = evaluation(cell)["differences"]
    assert difference == {"session_id": name, "what": "the call log has no finished attempt of it"}


def test_both_sources_forged_alike_are_found_by_the_replay(
    cell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = a_test(cell)
    edit(path, lambda d: answer(d).update(content='{"ok": true}'))
    edit_log(cell, lambda r: r.update(result='{"ok": true}'), path.stem)
    assert call("score", cell) == 0
    capsys.readouterr()
    assert call("verify", cell) == 3
    printed = capsys.readouterr().out
    assert "rescored=true consistent=true replayed=false" in printed
    assert f"{path.stem}: call 1 (" in printed and "gives another result" in printed


def test_transcripts_of_an_oracle_do_not_raise_a_cell(
    cell: Path, outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (oracle,) = outputs.rglob("oracle_target__*")
    for path in (oracle / "trajectories").glob("*.json"):
        target = cell / "trajectories" / path.name
        shutil.copy(path, target)
        edit(target, lambda d: d.update(agent_variant="atr"))
    assert call("score", cell) == 3
    assert evaluation(cell)["verified"] is False
    assert len(evaluation(cell)["differences"]) == 4


@pytest.mark.parametrize("content", [b"no json\n", b"\xff\n", b"[" * 100_000 + b"\n"])
def test_a_damaged_log_does_not_verify_and_the_score_stays(cell: Path, content: bytes) -> None:
    before = evaluation(cell)
    (cell / "calls.jsonl").write_bytes(content)
    assert call("score", cell) == 3
    now = evaluation(cell)
    assert now["session_results"] == before["session_results"]
    assert "line 1 is no call record" in now["differences"][0]["what"]


def test_without_a_log_nothing_is_said(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cell / "calls.jsonl").unlink()
    assert call("score", cell) == 0
    assert evaluation(cell)["verified"] is None
    capsys.readouterr()
    assert call("verify", cell) == 0
    assert "rescored=true consistent=null replayed=null" in capsys.readouterr().out


def test_a_run_of_other_code_is_not_replayed(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(cell / "cell_manifest.json", lambda d: d.update(code_hash="src000000000000"))
    assert call("verify", cell) == 0
    assert "replayed=null" in capsys.readouterr().out


def test_a_run_that_was_resumed_with_other_code_is_not_replayed(
    cell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(cell / "cell_manifest.json", lambda d: d.update(stale_fields=["code_hash"]))
    assert call("verify", cell) == 0
    assert "replayed=null" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("spoil", "rescored", "code"),
    [(lambda path: path.write_text("{"), "false", 3), (lambda path: path.unlink(), "null", 0)],
    ids=["damaged", "missing"],
)
def test_a_score_that_is_damaged_is_wrong_and_one_that_is_missing_is_none(
    spoil: Callable[[Path], object], rescored: str, code: int, cell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(cell / "eval.json")
    assert call("verify", cell) == code
    assert f"rescored={rescored} " in capsys.readouterr().out


def test_a_score_that_was_edited_is_not_what_scoring_gives(
    cell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(cell / "eval.json", lambda d: d["metrics"].update(success_count=99))
    assert call("verify", cell) == 3
    printed = capsys.readouterr().out
    assert "rescored=false consistent=true replayed=true" in printed
    assert "eval.json has another metrics" in printed


def test_calls_to_other_servers_are_left_out_and_counted(
    cell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit_log(cell, lambda r: r.update(server="elsewhere"), a_test(cell).stem)
    call("verify", cell)
    assert "1 to other servers left out" in capsys.readouterr().out


def test_verify_names_a_folder_that_is_none(tmp_path: Path) -> None:
    assert call("verify", tmp_path / "none") == 2
    assert call("verify", tmp_path) == 2
