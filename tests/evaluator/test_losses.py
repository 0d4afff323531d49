"""Where points are lost: one class for every test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_evaluator import LOSS_CLASSES, rivals_of, score_cell
from atr_evaluator.evaluate import score_trajectories
from tests.evaluator.builders import action, episode, trajectory, write_cell
from tests.support.vectors import read_jsonl, report

DELETE, ARCHIVE, FOREIGN = "delete_files", "archive_files", "place_order"
ASK_FIRST = ("get_user_confirmation", {"target_tool": DELETE, "target_params": {}})
RIGHT, WRONG = (ARCHIVE, {"folder_id": "f1"}), (ARCHIVE, {"folder_id": "f2"})
GOLD = [action(ARCHIVE, {"folder_id": "f1"}, ["folder_id"])]
CONFIRM = [action("get_user_confirmation", {"target_tool": DELETE}, ["target_tool"])]
ASKED = {"kind": "route_decision", "turn_idx": 2, "route": "rule"}
MISSED = {"kind": "cls_verdict", "turn_idx": 2}
HEARD = {"kind": "cls_verdict", "turn_idx": 2, "rule_id": "r_0"}
FAILED = HEARD | {"cls_error": True}


def _episode(gold: list[dict[str, Any]], *touched: Sequence[str], kind: str = "param_id") -> Episode:
    """One test, and a learning session per entry whose guided path uses these tools."""
    document = episode(gold, learning=len(touched), check_types=(kind,)).model_dump(mode="json")
    for session, tools in zip(document["learning_sessions"], touched, strict=True):
        session["gold_trajectory"] = [{"tool": tool} for tool in tools]
    if kind == "confirm":
        document["rules"][0]["action_step"] = {"tool": "get_user_confirmation", "param": DELETE}
    return Episode.model_validate(document)


def _class(played: Episode, *runs: Trajectory, variant: str = "atr") -> str:
    (loss,) = score_trajectories(played, runs, variant).losses
    return loss["loss_class"]


@pytest.mark.parametrize(
    ("calls", "readable", "expected"),
    [
        ([[RIGHT]], None, "unknown"),
        ([], None, "unknown"),
        ([[RIGHT]], True, "passed_knowing"),
        ([[RIGHT]], False, "passed_unknowing"),
        ([], True, "not_tried"),
        ([[("list_files", {})]], True, "not_tried"),
        ([[WRONG]], True, "misapplied"),
        ([[WRONG], [RIGHT]], True, "misapplied"),
        ([[WRONG]], False, "not_asked"),
        ([], False, "not_asked"),
    ],
)
def test_what_the_test_could_read_and_did(calls: Any, readable: bool | None, expected: str) -> None:
    assert _class(_episode(GOLD), trajectory("ts_0", *calls, rule_readable=readable)) == expected


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([[ASK_FIRST], [(DELETE, {})]], "passed_knowing"),
        ([[(DELETE, {})], [ASK_FIRST]], "passed_knowing"),
        ([[(DELETE, {})]], "unconfirmed"),
        ([[("get_user_confirmation", {"target_tool": ARCHIVE})], [(DELETE, {})]], "unconfirmed"),
        ([[("get_user_confirmation", {"target_tool": None}), (DELETE, {})]], "unconfirmed"),
        ([[("get_user_confirmation", {"target_tool": ARCHIVE})]], "misapplied"),
        ([[("archive_files", {})]], "not_tried"),
    ],
)
def test_a_rule_that_wants_to_be_asked_first(calls: Any, expected: str) -> None:
    played = _episode(CONFIRM, kind="confirm")
    assert _class(played, trajectory("ts_0", *calls, rule_readable=True)) == expected


@pytest.mark.parametrize(
    ("touched", "events", "expected"),
    [
        ([ARCHIVE], [ASKED, HEARD], "not_kept"),
        ([FOREIGN], [ASKED, HEARD], "not_kept"),
        ([ARCHIVE], [ASKED, FAILED], "asked_past"),
        ([ARCHIVE], [ASKED, MISSED], "asked_past"),
        ([DELETE], [ASKED, MISSED], "asked_past"),
        ([FOREIGN], [ASKED, MISSED], "not_asked"),
        ([], [ASKED, MISSED], "not_asked"),
        ([ARCHIVE], [ASKED | {"route": "task"}], "not_asked"),
        ([ARCHIVE], [], "not_asked"),
    ],
)
def test_what_was_asked_on_an_occasion_of_the_rule(
    touched: list[str], events: list[dict[str, Any]], expected: str
) -> None:
    """`delete_files` answers the same kind of request as `archive_files`."""
    assert DELETE in rivals_of(ARCHIVE)
    runs = [trajectory("ls_0", events=events), trajectory("ts_0", [WRONG], rule_readable=False)]
    assert _class(_episode(GOLD, touched), *runs) == expected


@pytest.mark.parametrize(
    ("touched", "expected"),
    [
        ([DELETE], "asked_past"),
        ([ARCHIVE], "not_asked"),
        (["get_user_confirmation"], "not_asked"),
    ],
)
def test_the_occasion_of_a_confirmation_is_the_tool_to_be_confirmed(
    touched: list[str], expected: str
) -> None:
    runs = [trajectory("ls_0", events=[ASKED, MISSED]), trajectory("ts_0", rule_readable=False)]
    assert _class(_episode(CONFIRM, touched, kind="confirm"), *runs) == expected


def test_asking_elsewhere_is_no_asking_past_it() -> None:
    runs = [trajectory("ls_1", events=[ASKED, MISSED]), trajectory("ts_0", rule_readable=False)]
    assert _class(_episode(GOLD, [ARCHIVE], [FOREIGN]), trajectory("ls_0"), *runs) == "not_asked"


def test_another_variants_learning_does_not_count() -> None:
    runs = [
        trajectory("ls_0", events=[ASKED, HEARD], variant="default"),
        trajectory("ts_0", rule_readable=False),
    ]
    assert _class(_episode(GOLD, [ARCHIVE]), *runs) == "not_asked"


def test_a_test_without_a_result_was_not_played() -> None:
    assert _class(_episode(GOLD)) == "not_played"


def test_a_test_that_requires_nothing_cannot_be_tried() -> None:
    assert _class(_episode([]), trajectory("ts_0", [RIGHT], rule_readable=True)) == "not_tried"


@pytest.mark.parametrize(
    ("kind", "calls", "errors", "sprayed"),
    [
        ("tool_identity", [(ARCHIVE, {})], (), False),
        ("tool_identity", [(ARCHIVE, {}), (DELETE, {})], (), True),
        ("tool_identity", [(ARCHIVE, {}), (DELETE, {})], ("c1",), False),
        ("tool_identity", [(ARCHIVE, {}), (FOREIGN, {})], (), False),
        ("tool_identity", [(DELETE, {})], (), False),
        ("param_id", [(ARCHIVE, {}), (DELETE, {})], (), False),
    ],
)
def test_a_pass_in_which_a_rival_was_carried_out_too(
    kind: str, calls: Any, errors: tuple[str, ...], sprayed: bool
) -> None:
    run = trajectory("ts_0", calls, errors=errors, rule_readable=True)
    (loss,) = score_trajectories(_episode([action(ARCHIVE)], kind=kind), [run], "atr").losses
    assert loss["sprayed"] is sprayed


def test_the_file_tells_them_beside_the_compared_keys(tmp_path: Path) -> None:
    runs = [trajectory("ls_0", events=[ASKED, HEARD]), trajectory("ts_0", [WRONG], rule_readable=True)]
    cell = write_cell(tmp_path / "cell", runs, log=True)
    expected = {"session_id": "ts_0", "loss_class": "misapplied", "rule_readable": True, "sprayed": False}
    assert score_cell(cell, _episode(GOLD, []), variant="atr").document["losses"] == [expected]
    from_log = score_cell(cell, _episode(GOLD, []), variant="atr", source="calls").document["losses"]
    assert from_log == [expected | {"loss_class": "unknown", "rule_readable": None}]


def test_the_classes_partition_the_rows_of_every_vector(conformance_dir: Path) -> None:
    def agrees(case: dict[str, Any]) -> bool:
        runs = [Trajectory.model_validate(one) for one in case["trajectories"]]
        scored = score_trajectories(Episode.model_validate(case["episode"]), runs, case["variant"])
        rows = scored.document["session_results"]
        expected = ["not_played" if row.get("missing") else "unknown" for row in rows]
        named = [run.model_copy(update={"rule_readable": run.session_id < "m"}) for run in runs]
        recorded = score_trajectories(Episode.model_validate(case["episode"]), named, case["variant"]).losses
        return [loss["loss_class"] for loss in scored.losses] == expected and all(
            loss["loss_class"] in LOSS_CLASSES
            and loss["loss_class"] != "unknown"
            and ("passed" in loss["loss_class"]) == row["task_success"]
            for loss, row in zip(recorded, rows, strict=True)
        )

    report("evaluator.jsonl.gz", read_jsonl(conformance_dir / "evaluator.jsonl.gz"), agrees)
