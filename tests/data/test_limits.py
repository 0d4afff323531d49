"""What arguments may be, on either side of the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atr_data.limits import MAX_BYTES, MAX_DEPTH, check_arguments


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"k": value}
    return value


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "the arguments must be a JSON object, not a list"),
        (None, "the arguments must be a JSON object, not null"),
        ("{}", "the arguments must be a JSON object, not a text"),
        ({"a": [1, float("nan")]}, "argument 'a': a number must be finite and in the range of a double"),
        ({"a": float("-inf")}, "argument 'a': a number must be finite and in the range of a double"),
        ({"a": 10**400}, "argument 'a': a number must be finite and in the range of a double"),
        ({"a": ["\ud800"]}, r"argument 'a': text with a lone surrogate cannot be encoded: '\ud800'"),
        ({"\ud800": 1}, r"the arguments: a key must be encodable text, got '\ud800'"),
        ({"a": {"\ud800": 1}}, r"argument 'a': a key must be encodable text, got '\ud800'"),
        ({"a": {5: 1}}, "argument 'a': a key must be encodable text, got 5"),
        ({"a": (1, 2)}, "argument 'a': a Python tuple is not a JSON value"),
        ({"a": b"x"}, "argument 'a': a Python bytes is not a JSON value"),
        ({"a": nested(MAX_DEPTH)}, "argument 'a': nested more than 32 levels deep"),
        ({"a": nested(100_000)}, "argument 'a': nested more than 32 levels deep"),
        ({"a": "x" * 5_000_000}, "the arguments are larger than 1048576 bytes of JSON"),
        ({"a": [1] * 1_000_000}, "the arguments are larger than 1048576 bytes of JSON"),
    ],
)
def test_unfit_arguments_are_told_where_and_why(arguments: object, problem: str) -> None:
    assert check_arguments(arguments) == problem


@pytest.mark.parametrize(
    "arguments",
    [{}, {"a": nested(MAX_DEPTH - 1)}, {"é🙂": [None, True, 1.5, 10**300, "\x00"]}, {"": {}}],
)
def test_fit_arguments_pass(arguments: object) -> None:
    assert check_arguments(arguments) is None


@settings(max_examples=8, deadline=None)
@given(st.dictionaries(st.text(), st.recursive(st.integers() | st.text() | st.booleans(), st.lists)))
def test_the_limit_is_the_size_of_compact_json(arguments: dict[str, Any]) -> None:
    def size(value: Any) -> int:
        return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())

    def filled(more: int) -> dict[str, Any]:
        room = MAX_BYTES - size({**arguments, "fill": ""}) + more
        return {**arguments, "fill": "x" * room}

    assert check_arguments(filled(0)) is None
    assert check_arguments(filled(1)) is not None
