"""The comparison rule of the tool vectors."""

from __future__ import annotations

from typing import Any


def agrees(expected: dict[str, Any], is_error: bool, content: Any) -> bool:
    """Whether an answer passes for the expected call of a vector.

    Messages of errors are free. A lenient call may be refused; where it should be, it may do anything.
    """
    if expected["is_error"]:
        return is_error or expected.get("reference_lenient", False)
    if is_error:
        return expected.get("reference_lenient", False)
    return same_json(expected["content"], content)


def same_json(expected: Any, actual: Any) -> bool:
    """Equality of JSON values: numbers by value, true is not 1, key order free, the text of a `hint` free."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(
            key == "hint" or same_json(value, actual[key]) for key, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same_json, expected, actual))
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return expected == actual


def same_order(expected: Any, actual: Any) -> bool:
    """Whether the keys of two equal JSON values come in the same order, on every level."""
    if isinstance(expected, dict):
        return list(expected) == list(actual) and all(
            same_order(expected[key], actual[key]) for key in expected
        )
    if isinstance(expected, list):
        return all(map(same_order, expected, actual))
    return True
