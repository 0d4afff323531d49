"""What is told beside the score: whether calls were carried out, asking by session, faces and guessing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from atr_data import Episode
from atr_data.trajectory import Trajectory
from atr_evaluator.evaluate import score_log, score_trajectories
from atr_evaluator.guess_bound import GuessBound, dataset_of, face_counts, guess_bound
from tests.evaluator.builders import TOOL, action, episode, log_of, trajectory

OTHER = "list_files"
BOTH = [action(arguments={"a": 1}, compare=["a"]), action(OTHER, {"b": 1}, ["b"])]
RIGHT, RIGHT_OTHER = (TOOL, {"a": 1}), (OTHER, {"b": 1})
WRONG, WRONG_OTHER = (TOOL, {"a": 2}), (OTHER, {"b": 2})


@pytest.mark.parametrize(
    ("batches", "errors", "unanswered", "executed", "corrected"),
    [
        ([[RIGHT], [RIGHT_OTHER]], [], [], True, False),
        ([[RIGHT], [RIGHT_OTHER]], ["c0"], [], False, False),
        ([[RIGHT], [RIGHT_OTHER]], ["c1"], [], False, False),
        ([[RIGHT], [RIGHT_OTHER]], ["c0", "c1"], [], False, False),
        ([[RIGHT], [RIGHT_OTHER]], ["c0"], ["c1"], None, False),
        ([[RIGHT]], [], [], None, False),
        ([[RIGHT]], ["c0"], [], None, False),
        ([], [], [], None, False),
        ([[WRONG], [RIGHT_OTHER]], [], [], True, False),
        ([[WRONG], [RIGHT], [RIGHT_OTHER]], [], [], True, True),
        ([[WRONG], [RIGHT], [WRONG_OTHER]], [], [], True, False),
        ([[WRONG], [RIGHT], [WRONG_OTHER], [WRONG_OTHER], [RIGHT_OTHER]], [], [], True, True),
        ([[WRONG], [RIGHT]], [], [], None, False),
        ([[RIGHT], [WRONG], [RIGHT_OTHER]], [], [], True, False),
    ],
)
def test_of_several_actions_all_count(
    batches: Sequence[Sequence[Any]],
    errors: Sequence[str],
    unanswered: Sequence[str],
    executed: bool | None,
    corrected: bool,
) -> None:
    run = trajectory("ts_0", *batches, errors=errors)
    for message in run.messages:
        if message.tool_call_id in unanswered:
            message.tool_error = None
    (found,) = score_trajectories(episode(BOTH), [run], None).scoring.diagnostics
    assert (found["executed"], found["corrected_later"]) == (executed, corrected)


def test_a_test_that_asks_for_nothing_was_not_carried_out() -> None:
    (found,) = score_trajectories(episode([]), [trajectory("ts_0")], None).scoring.diagnostics
    assert found == {"session_id": "ts_0", "executed": None, "corrected_later": False}


def test_missing_learning_sessions_are_sorted_by_name() -> None:
    scoring = score_trajectories(episode(learning=11), [trajectory("ls_4")], "atr").scoring
    names = [f"ls_{n}" for n in range(11) if n != 4]
    assert scoring.missing_learning_sessions == sorted(names)


def test_a_test_under_the_name_of_a_learning_session_is_none() -> None:
    odd = trajectory("ls_0").model_copy(update={"session_type": "test"})
    scoring = score_trajectories(episode(learning=2), [odd, trajectory("ls_1")], "atr").scoring
    assert scoring.missing_learning_sessions == ["ls_0"]
    assert [ignored["reason"] for ignored in scoring.ignored] == ["no test session of the episode"]


def verdict(rule_id: str | None = None, *, failed: bool = False) -> dict[str, Any]:
    return {"kind": "cls_verdict", "turn_idx": 2, "rule_id": rule_id, "cls_error": failed}


def routed(route: str) -> dict[str, Any]:
    return {"kind": "route_decision", "turn_idx": 2, "route": route}


def learned(session_id: str, *events: dict[str, Any]) -> Trajectory:
    """With an event that is no decision, whatever it says of a route."""
    return trajectory(session_id, events=[*events, {"kind": "send_event", "turn_idx": 2, "route": "rule"}])


def test_asking_is_told_session_by_session_in_the_order_in_which_they_were_held() -> None:
    shown = episode(BOTH, learning=4)
    first, *others = shown.learning_sessions
    shown = shown.model_copy(
        update={"learning_sessions": [*others, first.model_copy(update={"day_offset": 9})]}
    )
    runs = [
        learned("ls_0", verdict("r_0"), verdict("r_1")),
        learned("ls_1", routed("rule"), routed("task"), routed("rule"), *[verdict("r_0")] * 3),
        learned(
            "ls_3", routed("rule"), verdict(), verdict(), verdict("r_0", failed=True), verdict(failed=True)
        ),
        learned("ls_9", routed("rule"), verdict("r_1")),
        trajectory("ts_0", events=[routed("rule"), verdict("r_1")]),
    ]
    names = ("session_id", "asks", "hits", "repeats", "misses", "errors")
    assert score_trajectories(shown, runs, None).asking == [
        dict(zip(names, told, strict=True))
        for told in (("ls_1", 2, 3, 2, 0, 0), ("ls_3", 1, 0, 0, 2, 2), ("ls_0", 0, 2, 1, 0, 0))
    ]
    assert score_log(shown, log_of(runs), None).asking is None


# Faces


def faced(faces: Any, *check_types: str, version: Any = None) -> Episode:
    shown = episode(*[BOTH] * len(check_types), check_types=check_types)
    metadata = type(shown.metadata).model_validate({"faces": faces, "source_version": version})
    return shown.model_copy(update={"metadata": metadata})


@pytest.mark.parametrize(
    ("faces", "counts"),
    [
        ({"counts": {"r_0": 3}}, {"r_0": 3}),
        ({"counts": {}}, {}),
        ({"counts": [3]}, {}),
        ({"shown": 1}, {}),
        ([3], {}),
        (None, {}),
    ],
)
def test_faces_are_counted_as_far_as_an_episode_tells(faces: Any, counts: dict[str, int]) -> None:
    assert face_counts(faced(faces, "param_id")) == counts


@pytest.mark.parametrize(
    ("version", "name"),
    [("3", "source 3"), ("", "without a version"), (3, "without a version"), (None, "without a version")],
)
def test_a_dataset_is_named_by_its_source(version: Any, name: str) -> None:
    assert dataset_of(faced(None, "param_id", version=version)) == name


@pytest.mark.parametrize(
    ("rules", "plain", "confirming", "spraying"),
    [
        ([], 0.0, 0.0, 0.0),
        ([("param_id", 4)], 0.25, 0.25, 0.25),
        ([("confirm", 2)], 0.0, 1.0, 0.0),
        ([("tool_identity", 4)], 0.25, 0.25, 1.0),
        ([("param_id", 2), ("confirm", 2), ("tool_identity", 4), ("param_enum", 1)], 0.4375, 0.6875, 0.625),
    ],
)
def test_guessing_brings_a_share_of_the_faces(
    rules: list[tuple[str, int]], plain: float, confirming: float, spraying: float
) -> None:
    bound = GuessBound.of(iter(rules))
    assert (bound.plain, bound.confirming, bound.spraying) == (plain, confirming, spraying)
    assert str(bound) == f"{plain:.3f}, confirming {confirming:.3f}, spraying {spraying:.3f}"


@pytest.mark.parametrize(
    ("plain", "confirming", "ok"),
    [(0.36, 0.44, True), (0.361, 0.44, False), (0.36, 0.441, False), (0.0, 0.0, True)],
)
def test_a_dataset_keeps_both_limits(plain: float, confirming: float, ok: bool) -> None:
    assert GuessBound(plain, confirming, 1.0).ok is ok


def test_the_bound_of_a_dataset_is_over_all_its_rules_and_unknown_when_one_is() -> None:
    known = faced({"counts": {"r_0": 2, "r_1": 4}}, "param_id", "tool_identity")
    lacking = faced({"counts": {"r_0": 2}}, "param_id", "tool_identity")
    assert guess_bound([known, faced({"counts": {"r_0": 4}}, "confirm")]) == GuessBound(0.25, 1.75 / 3, 0.5)
    assert guess_bound([known, lacking]) is guess_bound([lacking]) is guess_bound([]) is None
