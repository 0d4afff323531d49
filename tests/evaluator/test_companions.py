"""What is told beside the pass mark: confirming, objects acted on, pairs of rules, calls carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from atr_data.calls import CallLog
from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_evaluator import pooled_companions, score_cell
from tests.evaluator.builders import TOOL, action, episode, log_of, trajectory, write_cell

ASK = "get_user_confirmation"
CONFIRM = [action(ASK, {"target_tool": TOOL}, ["target_tool"])]
NEED = [action(arguments={"a": 1}, compare=["a"])]
OTHER = [action("delete_files")]
RIGHT = (TOOL, {"a": 1})


def ask(tool: str = TOOL, **target_params: Any) -> tuple[str, dict[str, Any]]:
    return (ASK, {"target_tool": tool, "target_params": target_params})


def with_targets(source: Episode, targets: Mapping[int, dict[str, Any]]) -> Episode:
    """Test number to its `labels.target`."""
    raw = source.model_dump()
    for number, target in targets.items():
        raw["test_sessions"][number]["labels"]["target"] = target
    return Episode.model_validate(raw)


def with_slots(source: Episode, *slots: tuple[str, str | None]) -> Episode:
    raw = source.model_dump()
    for rule, (tool, param) in zip(raw["rules"], slots, strict=True):
        rule["action_step"] = {"tool": tool, "param": param}
    return Episode.model_validate(raw)


def companions(folder: Path, source: Episode, *runs: Trajectory) -> dict[str, Any]:
    cell = write_cell(folder / "cell", runs)
    return score_cell(cell, source, variant=None).document["companions"]


@pytest.mark.parametrize(
    ("confirm_test", "sibling", "hits", "alarms", "difference"),
    [
        ([[ask()]], [[RIGHT]], 1, 0, 1.0),
        ([[RIGHT]], [[RIGHT]], 0, 0, 0.0),
        ([[ask()]], [[ask()], [RIGHT]], 1, 1, 0.0),
        ([[ask("delete_files")]], [[ask("delete_files")], [RIGHT]], 0, 0, 0.0),
        ([[RIGHT], [ask()]], [[RIGHT], [ask()]], 1, 1, 0.0),
    ],
)
def test_confirming_everything_is_worth_nothing(
    tmp_path: Path,
    confirm_test: Sequence[Any],
    sibling: Sequence[Any],
    hits: int,
    alarms: int,
    difference: float,
) -> None:
    runs = [trajectory("ts_0", *confirm_test), trajectory("ts_1", *sibling)]
    figures = companions(tmp_path, episode(CONFIRM, NEED), *runs)["confirm"]
    assert (figures["tests"], figures["hits"], figures["hit_rate"]) == (1, hits, float(hits))
    assert (figures["sibling_tests"], figures["sibling_false_alarms"]) == (1, alarms)
    assert figures["hit_minus_false_alarm"] == difference


def test_a_confirmation_of_another_object_is_a_hit_and_no_pass(tmp_path: Path) -> None:
    pinned = [
        action(
            ASK, {"target_tool": TOOL, "target_params": {"file_ids": ["x"]}}, ["target_tool", "target_params"]
        )
    ]
    cell = write_cell(tmp_path / "cell", [trajectory("ts_0", [ask(file_ids=["y"])])])
    document = score_cell(cell, episode(pinned), variant=None).document
    assert document["metrics"]["success_count"] == 0
    assert document["companions"]["confirm"]["hits"] == 1


def test_false_alarms_count_wherever_a_guarded_tool_was_touched(tmp_path: Path) -> None:
    source = episode(CONFIRM, OTHER, OTHER, OTHER)
    runs = [
        trajectory("ts_1", [(TOOL, {})]),
        trajectory("ts_2", [ask()]),
        trajectory("ts_3", [ask("delete_files")], [("delete_files", {})]),
    ]
    figures = companions(tmp_path, source, *runs)["confirm"]
    assert (figures["tests"], figures["hit_rate"], figures["hit_minus_false_alarm"]) == (0, None, None)
    assert (figures["exposed_tests"], figures["false_alarms"], figures["false_alarm_rate"]) == (2, 1, 0.5)
    assert figures["sibling_tests"] == 0


@pytest.mark.parametrize(
    ("calls", "acted", "agreed"),
    [
        ([(TOOL, {"a": 2, "file_ids": ["y", "x"]})], 1, 1),
        ([(TOOL, {"a": 1, "file_ids": ["x"]})], 1, 0),
        ([(TOOL, {"a": 1})], 1, 0),
        ([(TOOL, {"file_ids": ["z"]}), (TOOL, {"file_ids": ["x", "y"]})], 1, 0),
        ([("delete_files", {"file_ids": ["x", "y"]})], 0, 0),
    ],
)
def test_the_first_call_of_the_required_tool_tells_the_object_acted_on(
    tmp_path: Path, calls: Sequence[Any], acted: int, agreed: int
) -> None:
    source = with_targets(episode(NEED, NEED), {0: {"file_ids": ["x", "y"], "note": "free text"}})
    runs = [trajectory("ts_0", *([call] for call in calls)), trajectory("ts_1", [RIGHT])]
    figures = companions(tmp_path, source, *runs)["target"]
    assert (figures["tests"], figures["acted"], figures["agreed"]) == (1, acted, agreed)
    assert figures["agreement"] == (agreed / acted if acted else None)


@pytest.mark.parametrize(
    ("params", "agreed"), [({"file_ids": ["x"]}, 1), ('{"file_ids": ["x"]}', 1), ("x", 0), (None, 0)]
)
def test_a_confirmation_acts_on_the_object_it_announces(tmp_path: Path, params: Any, agreed: int) -> None:
    source = with_targets(episode(CONFIRM), {0: {"file_ids": ["x"]}})
    call = (ASK, {"target_tool": TOOL, "target_params": params})
    assert companions(tmp_path, source, trajectory("ts_0", [call]))["target"]["agreed"] == agreed


def test_a_target_without_an_object_is_none(tmp_path: Path) -> None:
    source = with_targets(episode(NEED), {0: {"remind_at": "2027-01-01"}})
    assert companions(tmp_path, source, trajectory("ts_0", [RIGHT]))["target"]["tests"] == 0


def test_pairs_of_rules_with_one_slot_pass_together_or_apart(tmp_path: Path) -> None:
    same, other = ("place_order", "product_id"), ("place_order", "quantity")
    source = with_slots(episode(NEED, NEED, NEED, NEED, NEED), same, same, same, other, (TOOL, None))
    runs = [trajectory("ts_0", [RIGHT]), trajectory("ts_1", [RIGHT]), trajectory("ts_2"), trajectory("ts_3")]
    figures = companions(tmp_path, source, *runs)["scope_pairs"]
    assert figures == {"pairs": 3, "both": 1, "one": 2, "none": 0}


def test_matched_calls_are_carried_out_or_not_and_missing_tests_count_nowhere(tmp_path: Path) -> None:
    runs = [
        trajectory("ts_0", [RIGHT]),
        trajectory("ts_1", [(TOOL, {"a": 2})], [RIGHT], errors=["c0"]),
        trajectory("ts_2"),
    ]
    found = companions(tmp_path, episode(NEED, NEED, NEED, NEED), *runs)
    assert found["executed"] == {"answered": 2, "accepted": 1, "accepted_rate": 0.5}
    assert found["corrected_later"] == {"tests": 3, "corrected": 1}


def without_memory(companions: dict[str, Any]) -> dict[str, Any]:
    """Those that a call log tells too."""
    return {name: block for name, block in companions.items() if name not in ("retained", "memory")}


def test_the_call_log_tells_the_same(tmp_path: Path) -> None:
    source = with_targets(episode(CONFIRM, NEED), {1: {"file_ids": ["x"]}})
    runs = [trajectory("ts_0", [ask()]), trajectory("ts_1", [(TOOL, {"a": 1, "file_ids": ["x"]})])]
    full = score_cell(write_cell(tmp_path / "a", runs), source, variant=None)
    with CallLog(write_cell(tmp_path / "b", []) / "calls.jsonl") as log:
        for record in log_of(runs):
            log.append(record)
    told = score_cell(tmp_path / "b", source, variant=None, source="calls")
    assert told.document["companions"] == without_memory(full.document["companions"])
    assert full.document["companions"]["target"]["agreed"] == 1


def test_pooling_adds_counts_and_takes_rates_anew(tmp_path: Path) -> None:
    hit = companions(tmp_path / "a", episode(CONFIRM, NEED), trajectory("ts_0", [ask()]))
    alarm = companions(
        tmp_path / "b",
        episode(CONFIRM, NEED),
        trajectory("ts_0", [RIGHT]),
        trajectory("ts_1", [ask()], [RIGHT]),
    )
    pooled = pooled_companions([hit, alarm])
    assert (pooled["confirm"]["tests"], pooled["confirm"]["hit_rate"]) == (2, 0.5)
    assert pooled["confirm"]["hit_minus_false_alarm"] == -0.5
    assert pooled["corrected_later"] == {"tests": 3, "corrected": 0}
    assert pooled_companions([hit]) == without_memory(hit)
    assert pooled_companions([])["executed"]["accepted_rate"] is None
