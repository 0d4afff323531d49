"""Which calls count as a required action."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_evaluator import evaluate_episode
from tests.evaluator.builders import TOOL, action, episode, trajectory

CONFIRM = "get_user_confirmation"
OTHER = "list_files"


def step(required: dict[str, Any], *batches: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """The step result of a session that requires one action and made these calls."""
    result = evaluate_episode(episode([required]), [trajectory("ts_0", *batches)], None)
    return result["session_results"][0]["step_results"][0]


def passes(required: dict[str, Any], arguments: dict[str, Any]) -> bool:
    return step(required, [(required["tool"], arguments)])["passed"]


def test_a_tool_that_was_never_called_is_not_found() -> None:
    assert step(action(compare=["a"]), [(OTHER, {})]) == {
        "step_idx": 0,
        "required_tool": TOOL,
        "tool_found": False,
        "matched_call_id": None,
        "args_match": False,
        "arg_mismatches": {},
        "passed": False,
    }


@pytest.mark.parametrize("compare", [None, []])
def test_without_compared_arguments_the_tool_alone_decides(compare: list[str] | None) -> None:
    assert passes(action(arguments={"a": 1}, compare=compare), {"a": 2})


def test_batches_before_the_first_call_of_the_tool_do_not_count_against_it() -> None:
    found = step(
        action(arguments={"a": 1}, compare=["a"]), [(OTHER, {})], [], [(OTHER, {}), (TOOL, {"a": 1})]
    )
    assert found["passed"] and found["matched_call_id"] == "c2"


def test_a_right_call_after_a_wrong_batch_is_too_late() -> None:
    found = step(action(arguments={"a": 1}, compare=["a"]), [(TOOL, {"a": 2})], [(TOOL, {"a": 1})])
    assert not found["passed"] and found["arg_mismatches"] == {"a": [1, 2]}


def test_every_call_of_the_tool_in_the_first_batch_must_match() -> None:
    batch = [(TOOL, {"a": 1}), (OTHER, {"a": 9}), (TOOL, {"a": 2}), (TOOL, {"a": 3})]
    found = step(action(arguments={"a": 1}, compare=["a"]), batch)
    assert not found["args_match"]
    assert found["matched_call_id"] == "c0", "the first call of the tool is named, though it matches"
    assert found["arg_mismatches"] == {"a": [1, 2]}, "of the first call that fails"


@pytest.mark.parametrize(
    ("gold", "actual", "same"),
    [
        ("x", "x", True),
        ("x", "X", False),
        (7, "7", False),
        (1, 1.0, True),
        (True, 1, True),
        (None, None, True),
        ({"a": [1, 2]}, {"a": [1, 2]}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        (["a", "b"], ["b", "a", "b"], True),
        (["7"], [7], True),
        ([True, None], ["True", "None"], True),
        (["a"], "a", False),
        (["a"], ["a", "b"], False),
        ([], [], True),
        ([], None, False),
        ("a", ["a"], False),
    ],
)
def test_values_compare_as_json_and_lists_as_sets_of_texts(gold: Any, actual: Any, same: bool) -> None:
    assert passes(action(arguments={"a": gold}, compare=["a"]), {"a": actual}) is same


def test_an_absent_argument_is_null_on_either_side() -> None:
    assert passes(action(compare=["a"]), {})
    assert passes(action(compare=["a"]), {"a": None})
    assert not passes(action(compare=["a"]), {"a": 0})
    assert not passes(action(arguments={"a": 0}, compare=["a"]), {})


def confirm(target_params: Any, target_tool: Any = "archive_files") -> dict[str, Any]:
    arguments = {"target_tool": target_tool, "target_params": target_params}
    return action(CONFIRM, arguments, ["target_tool", "target_params"])


def confirms(
    gold: Any, actual: Any, tool: Any = "archive_files", compare: tuple[str, ...] = ("target_params",)
) -> bool:
    required = confirm(gold, tool) | {"compare_args": list(compare)}
    return passes(required, {"target_tool": tool, "target_params": actual})


@pytest.mark.parametrize(
    ("gold", "actual", "same"),
    [
        ({"file_ids": ["a"]}, {"file_ids": ["a"], "note": "x", "folder_id": "f"}, True),
        ({"file_ids": ["a", "b"]}, {"file_ids": ["b", "a"]}, False),
        ({"file_ids": ["a"]}, {}, False),
        ({"file_ids": ["7"]}, {"file_ids": [7]}, False),
        ({"nothing_known": 1}, {}, True),
        ({"file_ids": ["a"]}, '{"file_ids": ["a"]}', True),
        ('{"file_ids": ["a"]}', {"file_ids": ["a"]}, True),
        ({"file_ids": ["a"]}, '["a"]', False),
        ({"file_ids": ["a"]}, '{"file_ids": ["a"]', False),
        ({"file_ids": ["a"]}, "[" * 100_000, False),
        ({"file_ids": ["a"]}, None, False),
        (None, None, True),
        (None, {}, False),
        ("free text", "free text", True),
        ("free text", "other text", False),
    ],
)
def test_an_announced_call_compares_by_its_safe_parameters(gold: Any, actual: Any, same: bool) -> None:
    assert confirms(gold, actual) is same


@pytest.mark.parametrize(
    ("tool", "key", "is_safe"),
    [
        ("book_restaurant", "restaurant_id", True),
        ("book_restaurant", "party_size", False),
        ("book_restaurant", "date_time", False),
        ("plan_trip", "include_stopovers", True),
        ("plan_trip", "destination", False),
        ("book_flight", "seat_preference", True),
        ("archive_files", "file_ids", True),
        (CONFIRM, "target_tool", True),
        (CONFIRM, "target_params", True),
    ],
)
def test_only_booleans_enums_ids_and_nested_calls_are_safe(tool: str, key: str, is_safe: bool) -> None:
    assert confirms({key: "gold"}, {key: "other"}, tool) is not is_safe


@pytest.mark.parametrize("tool", ["no_such_tool", ["archive_files"]])
def test_any_object_passes_for_a_tool_that_does_not_exist(tool: Any) -> None:
    assert confirms({"file_ids": ["a"]}, {"file_ids": ["b"]}, tool)
    assert not confirms({"file_ids": ["a"]}, None, tool)


def test_without_a_gold_target_tool_the_announced_call_is_a_plain_value() -> None:
    assert not confirms({"file_ids": ["a"]}, {"file_ids": ["a"], "note": "x"}, None)
    assert not confirms({"file_ids": ["a"]}, '{"file_ids": ["a"]}', "")


def test_an_announced_call_counts_only_when_it_is_compared() -> None:
    assert confirms({"file_ids": ["a"]}, {"file_ids": ["b"]}, compare=("target_tool",))


def test_a_mismatch_shows_the_values_as_they_were_written() -> None:
    written = '{"file_ids": ["b"]}'
    found = step(
        confirm({"file_ids": ["a"]}), [(CONFIRM, {"target_tool": "archive_files", "target_params": written})]
    )
    assert found["arg_mismatches"] == {"target_params": [{"file_ids": ["a"]}, written]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "b", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["a", "b", "target_params", "target_tool"]), JSON, max_size=4)


@given(ARGUMENTS, st.lists(st.sampled_from(["a", "b", "target_params"]), max_size=3))
def test_the_gold_call_itself_always_passes(arguments: dict[str, Any], compare: list[str]) -> None:
    assert passes(action(arguments=arguments, compare=compare), arguments)


@given(ARGUMENTS, ARGUMENTS, st.lists(st.sampled_from(["a", "b", "target_params"]), max_size=3))
def test_comparing_fewer_arguments_never_turns_a_pass_into_a_failure(
    gold: dict[str, Any], actual: dict[str, Any], compare: list[str]
) -> None:
    if passes(action(arguments=gold, compare=compare), actual):
        assert passes(action(arguments=gold, compare=compare[1:]), actual)


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 1


@pytest.mark.parametrize("value", [float("inf"), "\ud800", nested(40), nested(900)])
def test_arguments_that_cannot_be_sent_count_as_none(value: Any) -> None:
    found = step(action(arguments={"a": 1}, compare=["a"]), [(TOOL, {"a": 1, "b": value})])
    assert found["arg_mismatches"] == {"a": [1, None]}
