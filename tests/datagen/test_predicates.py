"""Predicates over attributes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_datagen.source.predicates import holds, parse_predicate

ATTRIBUTES: dict[str, Any] = {
    "price": 150,
    "rating": 4.0,
    "zip": "0712",
    "start": "2026-10-24T09:00:00",
    "place": "Old Yachats Inn",
    "open": True,
    "tags": ["Quiet", "garden view"],
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("price <= 150", True),
        ("price<=149.5", False),
        ("price >= 150", True),
        ("rating == 4", True),
        ("rating != 4.0", False),
        ("price == '150'", True),
        ("zip == 0712", True),
        ("zip == 712", False),
        ("start >= 2026-10-24", True),
        ("start <= 2026-10-24T10:00", True),
        ("place ~ yachats", True),
        ("place == Old Yachats", False),
        ("tags ~ garden", True),
        ("tags has Quiet", True),
        ("tags has quiet", False),
        ("tags has garden", False),
        ("place has Old", False),
        ("open == true", True),
        ("open == 1", False),
        ("price <= cheap", False),
        ("missing == 1", False),
        ("missing ~ 1", False),
        ("missing != 1", True),
        ("hasty == 1", False),
    ],
)
def test_a_predicate_says_this_of_the_object(text: str, expected: bool) -> None:
    assert parse_predicate(text)(ATTRIBUTES) is expected


@pytest.mark.parametrize("text", ["", "price", "price = 3", "price <", "== 3", "two words == 3", "price < 3"])
def test_what_is_no_predicate_is_shown_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="write `field op value`"):
        parse_predicate(text)


def test_a_comparison_with_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="compares with nothing"):
        parse_predicate("price == null")


NUMBERS = st.integers(-1000, 1000) | st.decimals(-1000, 1000, places=2).map(float)


@given(NUMBERS, NUMBERS)
def test_numbers_are_ordered_as_numbers(actual: float, bound: float) -> None:
    said = {op: parse_predicate(f"x {op} {bound}")({"x": actual}) for op in ("<=", ">=", "==", "!=")}
    assert said == {
        "<=": actual <= bound,
        ">=": actual >= bound,
        "==": actual == bound,
        "!=": actual != bound,
    }


VALUES = st.none() | st.booleans() | NUMBERS | st.text() | st.lists(st.text())


@given(st.sampled_from(["==", "!=", "<=", ">=", "~", "has"]), st.text(min_size=1), VALUES)
def test_any_value_can_be_compared_with_any_text(op: str, value: str, actual: Any) -> None:
    predicate = parse_predicate(f"x {op} '{value}'")
    assert predicate.value == value
    assert predicate({"x": actual}) in (True, False)
    assert holds([predicate], {"x": actual}) == predicate({"x": actual})


@given(VALUES.filter(lambda value: value is not None), st.text(min_size=1))
def test_equal_and_unequal_are_opposites(actual: Any, value: str) -> None:
    equal, unequal = (parse_predicate(f"x {op} '{value}'") for op in ("==", "!="))
    assert equal({"x": actual}) is not unequal({"x": actual})
