"""The comparison rule itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.comparison import agrees, same_json, same_order


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (35, 35.0, True),
        (True, 1, False),
        (0, False, False),
        (False, False, True),
        (None, None, True),
        ("1", 1, False),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({"hint": "*"}, {"hint": "other words"}, True),
        ({"hint": "*"}, {}, False),
        ({"a": {"hint": 1, "b": True}}, {"a": {"hint": 2, "b": 1}}, False),
        ({}, [], False),
    ],
)
def test_json_is_compared_by_value(expected: Any, actual: Any, same: bool) -> None:
    assert same_json(expected, actual) is same


@pytest.mark.parametrize(
    ("is_error", "lenient", "answer_is_error", "content", "passes"),
    [
        (False, False, False, {"a": 1}, True),
        (False, False, False, {"a": 2}, False),
        (False, False, True, {"error": "x"}, False),
        (True, False, True, {"error": "x"}, True),
        (True, False, False, {"a": 1}, False),
        (False, True, True, {"error": "x"}, True),
        (False, True, False, {"a": 1}, True),
        (False, True, False, {"a": 2}, False),
        (True, True, False, {"a": 2}, True),
        (True, True, True, {"error": "x"}, True),
    ],
)
def test_an_answer_agrees_as_the_vectors_say(
    is_error: bool, lenient: bool, answer_is_error: bool, content: Any, passes: bool
) -> None:
    expected = {"is_error": is_error, "content": {"error": "*"} if is_error else {"a": 1}}
    if lenient:
        expected["reference_lenient"] = True
    assert agrees(expected, answer_is_error, content) is passes


def test_the_order_of_keys_is_compared_on_every_level() -> None:
    assert same_order({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1, "c": 2}]})
    assert not same_order({"a": [{"b": 1, "c": 2}]}, {"a": [{"c": 2, "b": 1}]})
