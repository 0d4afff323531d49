"""Scoring a cell's folder into eval.json."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from atr_data.errors import DataError
from atr_data.trajectory import Trajectory
from atr_evaluator import SCORER_VERSION, evaluate_calls, evaluate_episode, score_cell
from tests.evaluator.builders import TOOL, action, episode, log_of, trajectory, write_cell

NEED = [action(arguments={"a": 1}, compare=["a"])]
RIGHT, WRONG = (TOOL, {"a": 1}), (TOOL, {"a": 2})
COMPARED = ("episode_id", "variant", "session_results", "metrics")


def test_the_file_holds_the_evaluation_and_tells_where_it_comes_from(tmp_path: Path) -> None:
    runs = [trajectory("ts_1", [WRONG]), trajectory("ts_0", [RIGHT])]
    cell = write_cell(tmp_path / "cell", runs)
    score = score_cell(cell, episode(NEED, NEED), variant="atr")
    written = json.loads(score.path.read_text())
    assert score.path == cell / "eval.json"
    assert written == json.loads(json.dumps(score.document))
    expected = evaluate_episode(episode(NEED, NEED), [runs[1], runs[0]], "atr")
    assert {key: written[key] for key in COMPARED} == json.loads(json.dumps(expected))
    assert written["scorer_version"] == SCORER_VERSION
    assert written["source"] == "trajectories"
    assert written["parse_errors"] == written["ignored"] == written["not_available"] == []
    assert not score.incomplete


def test_a_score_that_stands_already_is_dated_anew_and_another_one_replaces_it(tmp_path: Path) -> None:
    cell = write_cell(tmp_path / "cell", [trajectory("ts_0", [RIGHT])])
    path = score_cell(cell, episode(NEED), variant="atr").path
    os.utime(path, (1, 1))
    first = path.stat()
    score_cell(cell, episode(NEED), variant="atr")
    again = path.stat()
    assert (again.st_ino, again.st_size) == (first.st_ino, first.st_size)
    assert again.st_mtime > first.st_mtime
    session = cell / "trajectories" / "ts_0.json"
    session.write_text(trajectory("ts_0", [WRONG]).model_dump_json())
    score = score_cell(cell, episode(NEED), variant="atr")
    assert json.loads(path.read_text()) == json.loads(json.dumps(score.document))
    assert not score.document["session_results"][0]["task_success"]


def test_of_an_agent_from_outside_the_same_metrics_stand_there_and_some_are_null(tmp_path: Path) -> None:
    cell = write_cell(tmp_path / "cell", [trajectory("ts_0", [RIGHT])])
    inside = score_cell(cell, episode(NEED, learning=1), variant="atr").document
    (cell / "cell_manifest.json").write_text('{"agent": "somebody"}')
    outside = score_cell(cell, episode(NEED, learning=1), variant="atr").document
    assert outside["metrics"].keys() == inside["metrics"].keys()
    unseen = {name for name in outside["not_available"] if "." not in name}
    assert unseen <= {name for name, value in outside["metrics"].items() if value is None}
    kept = outside["metrics"].keys() - unseen - {"token_usage_total"}
    assert {name: outside["metrics"][name] for name in kept} == {
        name: inside["metrics"][name] for name in kept
    }
    assert "ls_stu_mixed_turns" in unseen and "total_test" in kept


def test_a_missing_session_makes_the_cell_incomplete(tmp_path: Path) -> None:
    cell = write_cell(tmp_path / "cell", [trajectory("ts_0", [RIGHT])])
    assert score_cell(cell, episode(NEED, NEED), variant="atr").incomplete
    assert score_cell(cell, episode(NEED, learning=1), variant="atr").incomplete
    assert not score_cell(cell, episode(NEED), variant="atr").incomplete


@pytest.mark.parametrize(
    ("manifest", "variant"),
    [
        ('{"variant": "default"}', "default"),
        ('{"variant": 5}', "atr"),
        ("{}", "atr"),
        ("[]", "atr"),
        ("{torn", "atr"),
        ("[" * 100_000, "atr"),
        (None, "atr"),
    ],
)
def test_the_manifest_names_the_variant_when_it_can_be_read(
    tmp_path: Path, manifest: str | None, variant: str
) -> None:
    cell = write_cell(tmp_path / "cell", [])
    if manifest is not None:
        (cell / "cell_manifest.json").write_text(manifest)
    assert score_cell(cell, episode(NEED), variant="atr").document["variant"] == variant


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"session_id": "ts_0", "session_ty',
        b"[]",
        b'{"session_id": "ts_0"}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"session_id": "ts_0", "session_type": "test", "agent_variant": "atr", "duration_seconds": NaN}',
    ],
)
def test_a_file_that_cannot_be_parsed_is_skipped_told_and_missing(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    cell = write_cell(tmp_path / "cell", [trajectory("ts_1", [RIGHT])])
    (cell / "trajectories" / "ts_0.json").write_bytes(content)
    document = score_cell(cell, episode(NEED, NEED), variant="atr").document
    assert [error["file"] for error in document["parse_errors"]] == ["ts_0.json"]
    assert document["parse_errors"][0]["reason"] and "\n" not in document["parse_errors"][0]["reason"]
    assert document["metrics"]["missing_test_sessions"] == ["ts_0"]
    assert "ts_0.json" in caplog.text


def test_a_folder_in_the_place_of_a_file_is_a_parse_error(tmp_path: Path) -> None:
    cell = write_cell(tmp_path / "cell", [])
    (cell / "trajectories" / "ts_0.json").mkdir()
    document = score_cell(cell, episode(NEED), variant="atr").document
    assert [error["file"] for error in document["parse_errors"]] == ["ts_0.json"]


def test_a_half_written_file_is_no_trajectory(tmp_path: Path) -> None:
    cell = write_cell(tmp_path / "cell", [])
    (cell / "trajectories" / "ts_0.json.tmp").write_text("{")
    assert score_cell(cell, episode(NEED), variant="atr").document["parse_errors"] == []


def test_what_is_left_out_is_listed_with_the_reason(tmp_path: Path) -> None:
    runs = [
        trajectory("ls_9"),
        trajectory("ts_0", [RIGHT], variant="default"),
        trajectory("ts_1", [RIGHT]),
        trajectory("ts_9", [RIGHT]),
    ]
    cell = write_cell(tmp_path / "cell", runs)
    document = score_cell(cell, episode(NEED, NEED, rules=["r_0"]), variant="atr").document
    assert document["ignored"] == [
        {"session_id": "ts_0", "agent_variant": "default", "reason": "another variant"},
        {"session_id": "ls_9", "agent_variant": "atr", "reason": "no learning session of the episode"},
        {"session_id": "ts_1", "agent_variant": "atr", "reason": "its rule is not in the episode"},
        {"session_id": "ts_9", "agent_variant": "atr", "reason": "no test session of the episode"},
    ]


def diagnosis(tmp_path: Path, run: Trajectory, required: list[dict[str, Any]] = NEED) -> tuple[Any, bool]:
    cell = write_cell(tmp_path / "cell", [run])
    (told,) = score_cell(cell, episode(required), variant=None).document["diagnostics"]
    assert told["session_id"] == "ts_0"
    return told["executed"], told["corrected_later"]


@pytest.mark.parametrize(("errors", "executed"), [((), True), (("c0",), False), (("c1",), True)])
def test_whether_the_environment_carried_the_matched_call_out_is_told(
    tmp_path: Path, errors: tuple[str, ...], executed: bool
) -> None:
    run = trajectory("ts_0", [RIGHT, ("list_files", {})], errors=errors)
    assert diagnosis(tmp_path, run) == (executed, False)


def test_an_answer_that_is_not_on_record_is_unknown(tmp_path: Path) -> None:
    run = trajectory("ts_0", [RIGHT])
    run.messages[-1].tool_error = None
    assert diagnosis(tmp_path, run) == (None, False)


def test_an_id_used_twice_is_answered_by_its_own_turn(tmp_path: Path) -> None:
    run = trajectory("ts_0", [RIGHT], [("list_files", {})], errors=["c1"])
    calls = run.messages[4].tool_calls
    assert calls
    calls[0].id = run.messages[5].tool_call_id = "c0"
    assert diagnosis(tmp_path, run) == (True, False)


def test_a_wrong_call_that_is_put_right_is_told(tmp_path: Path) -> None:
    run = trajectory("ts_0", [WRONG], [("list_files", {})], [RIGHT])
    assert diagnosis(tmp_path, run) == (True, True)


@pytest.mark.parametrize("later", [[], [[("list_files", {})]], [[WRONG]]])
def test_a_wrong_call_that_stays_wrong_is_not_called_corrected(tmp_path: Path, later: list[Any]) -> None:
    assert diagnosis(tmp_path, trajectory("ts_0", [WRONG], *later)) == (True, False)


def test_an_answer_of_a_later_turn_is_not_taken_for_an_earlier_one(tmp_path: Path) -> None:
    run = trajectory("ts_0", [RIGHT], [("list_files", {})])
    calls = run.messages[4].tool_calls
    assert calls
    calls[0].id = run.messages[5].tool_call_id = "c0"
    del run.messages[3]
    assert diagnosis(tmp_path, run) == (None, False)


def test_with_several_actions_all_must_be_put_right(tmp_path: Path) -> None:
    both = [*NEED, action("list_files")]
    run = trajectory("ts_0", [WRONG], [RIGHT])
    assert diagnosis(tmp_path, run, both) == (None, False)
    run = trajectory("ts_0", [("list_files", {}), WRONG], [RIGHT])
    assert diagnosis(tmp_path / "more", run, both) == (True, True)


def test_a_missing_session_has_nothing_to_tell(tmp_path: Path) -> None:
    cell = write_cell(tmp_path / "cell", [])
    assert score_cell(cell, episode(NEED), variant=None).document["diagnostics"] == [
        {"session_id": "ts_0", "executed": None, "corrected_later": False}
    ]


def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    runs = [trajectory("ls_0"), trajectory("ts_0", [WRONG], [RIGHT])]
    cells = [write_cell(tmp_path / name, order) for name, order in (("a", runs), ("b", runs[::-1]))]
    texts = [score_cell(cell, episode(NEED), variant="atr").path.read_bytes() for cell in cells]
    assert texts[0] == texts[1]
    assert score_cell(cells[0], episode(NEED), variant="atr").path.read_bytes() == texts[0]


def test_the_digest_follows_every_input(tmp_path: Path) -> None:
    def digest(variant: str = "atr", tests: int = 1) -> str:
        document = score_cell(cell, episode(*[NEED] * tests), variant=variant).document
        return document["inputs_sha256"]

    cell = write_cell(tmp_path / "cell", [trajectory("ts_0", [RIGHT])])
    first = digest()
    digests = {first, digest(variant="default"), digest(tests=2)}
    broken = cell / "trajectories" / "ts_1.json"
    broken.write_text("{")
    digests.add(digest())
    broken.write_text("{ ")
    digests.add(digest())
    broken.rename(broken.with_name("ts_2.json"))
    digests.add(digest())
    broken.with_name("ts_2.json").write_text("{ts_3.json{")
    digests.add(digest())
    broken.with_name("ts_2.json").write_text("{")
    broken.with_name("ts_3.json").write_text("{")
    digests.add(digest())
    assert len(digests) == 8
    broken.with_name("ts_2.json").unlink()
    broken.with_name("ts_3.json").unlink()
    assert digest() == first


def test_the_call_log_is_a_source_of_its_own(tmp_path: Path) -> None:
    runs = [trajectory("ls_0"), trajectory("ts_0", [RIGHT], errors=["c0"])]
    cell = write_cell(tmp_path / "cell", runs, log=True)
    full = score_cell(cell, episode(NEED, learning=1), variant="atr").document
    for path in (cell / "trajectories").iterdir():
        path.unlink()
    (cell / "trajectories").rmdir()
    told = score_cell(cell, episode(NEED, learning=1), variant="atr", source="calls").document
    assert told["source"] == "calls" and "ls_cls_hits" in told["not_available"]
    assert told["session_results"] == full["session_results"]
    assert told["diagnostics"] == full["diagnostics"]
    assert told["inputs_sha256"] != full["inputs_sha256"]


@pytest.mark.parametrize("torn", [b'{"record": "call", "att', '{"tool": "caf\u00e9'.encode()[:-1]])
def test_a_torn_last_line_of_the_log_is_no_obstacle(tmp_path: Path, torn: bytes) -> None:
    cell = write_cell(tmp_path / "cell", [trajectory("ts_0", [RIGHT])], log=True)
    with (cell / "calls.jsonl").open("ab") as log:
        log.write(torn)
    assert score_cell(cell, episode(NEED), variant="atr", source="calls").document["metrics"]["success_count"]


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (None, "cannot be read"),
        (b"\xff\n", "line 1 is no call record"),
        (b"{}\n", "line 1 is no call record"),
    ],
)
def test_a_log_that_cannot_be_read_is_one_clear_error(
    tmp_path: Path, log: bytes | None, message: str
) -> None:
    if log is not None:
        (tmp_path / "calls.jsonl").write_bytes(log)
    with pytest.raises(DataError, match=message) as caught:
        score_cell(tmp_path, episode(NEED), variant="atr", source="calls")
    assert "calls.jsonl" in str(caught.value)
    assert not (tmp_path / "eval.json").exists()


def test_a_cell_without_trajectories_folder_has_no_score(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        score_cell(tmp_path, episode(NEED), variant="atr")
    assert not (tmp_path / "eval.json").exists()


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = write_cell(tmp_path / "cell", [trajectory("ts_0", [RIGHT])])
    old = score_cell(cell, episode(NEED), variant="atr").path.read_bytes()

    def full_disk(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(DataError, match=r"eval\.json: cannot be written: No space left"):
        score_cell(cell, episode(NEED, NEED), variant="atr")
    assert (cell / "eval.json").read_bytes() == old
    assert {path.name for path in cell.iterdir()} == {"eval.json", "trajectories"}


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 1


@pytest.mark.parametrize("gold", [float("inf"), nested(400)])
def test_gold_that_json_cannot_hold_is_one_clear_error(tmp_path: Path, gold: Any) -> None:
    cell = write_cell(tmp_path / "cell", [trajectory("ts_0", [RIGHT])])
    with pytest.raises(DataError, match="what JSON cannot"):
        score_cell(cell, episode([action(arguments={"a": gold}, compare=["a"])]), variant="atr")


@pytest.mark.parametrize("text", ["é", "\u2028", "\U0001f600"])
def test_text_of_any_kind_survives_in_the_file(tmp_path: Path, text: str) -> None:
    cell = write_cell(tmp_path / "cell", [trajectory("ts_0", [WRONG])])
    gold = [action(arguments={"a": text}, compare=["a"])]
    document = json.loads(score_cell(cell, episode(gold), variant=None).path.read_bytes())
    assert document["session_results"][0]["step_results"][0]["arg_mismatches"] == {"a": [text, 2]}


def test_the_log_score_in_the_file_equals_the_one_in_memory(tmp_path: Path) -> None:
    runs = [trajectory("ts_0", [RIGHT])]
    cell = write_cell(tmp_path / "cell", runs, log=True)
    document = score_cell(cell, episode(NEED), variant="atr", source="calls").document
    assert {key: document[key] for key in (*COMPARED, "not_available")} == evaluate_calls(
        episode(NEED), log_of(runs), "atr"
    )
