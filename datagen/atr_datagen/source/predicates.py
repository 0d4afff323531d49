"""Predicates over the attributes of an object: `field op value`.

    price_per_night <= 150      numbers as numbers, other values as text (so ISO dates compare as dates)
    location ~ Yachats          contains, without case; in a list: some item contains it
    tags has quiet              the list holds exactly this item

An attribute that is missing differs from every value (`!=` holds) and fails every other operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from atr_datagen.source.document import scalar

_FORM = re.compile(r"([A-Za-z_]\w*)\s*(==|!=|<=|>=|~|\bhas\b)\s*(.+)", re.DOTALL)
Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Predicate:
    field: str
    op: str
    value: Scalar

    def __call__(self, attributes: Mapping[str, Any]) -> bool:
        actual = attributes.get(self.field)
        if actual is None:
            return self.op == "!="
        match self.op:
            case "==":
                return same(actual, self.value)
            case "!=":
                return not same(actual, self.value)
            case "<=":
                return ordered(actual, self.value)
            case ">=":
                return ordered(self.value, actual)
            case "~":
                return any(plain(self.value).lower() in plain(item).lower() for item in items(actual))
            case _:
                return isinstance(actual, list) and any(same(item, self.value) for item in items(actual))

    def __str__(self) -> str:
        return f"{self.field} {self.op} {plain(self.value)}"


def parse_predicate(text: str) -> Predicate:
    """Raises ValueError that shows the form when the text is no predicate."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no predicate; write `field op value` with == != <= >= ~ has")
    field, op, raw = match.groups()
    quoted = len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "'\""
    value = raw[1:-1] if quoted else scalar(raw)
    if value is None:
        raise ValueError(
            f"{text!r} compares with nothing; leave the cell out of the pool and use another field"
        )
    return Predicate(field, op, value)


def holds(predicates: Iterable[Predicate], attributes: Mapping[str, Any]) -> bool:
    return all(predicate(attributes) for predicate in predicates)


def items(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else [value]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def same(a: Any, b: Any) -> bool:
    return a == b if is_number(a) and is_number(b) else plain(a) == plain(b)


def ordered(low: Any, high: Any) -> bool:
    """Whether `low <= high`. A number and a text have no order."""
    if is_number(low) and is_number(high):
        return low <= high
    if isinstance(low, str) and isinstance(high, str):
        return low <= high
    return False


def beats(attributes: Mapping[str, Any], others: Mapping[str, Any], field: str, side: str) -> bool:
    """Whether the first object's field is beyond the second's on that side, `high` or `low`."""
    ours, theirs = attributes.get(field), others.get(field)
    low, high = (theirs, ours) if side == "high" else (ours, theirs)
    return ordered(low, high) and not same(low, high)
