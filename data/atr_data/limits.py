"""What the arguments of a tool call may be, on either side of the wire."""

from __future__ import annotations

import json
import math
from typing import Any, cast

from atr_data.reading import MAX_NESTING

MAX_DEPTH = 32
"""Levels of objects and lists; the arguments object is the first."""

_LEVELS_AROUND = 10

MAX_BYTES = 2**20
"""Size of the arguments as compact JSON in UTF-8."""

_SMALL, _SHORT = 2**31, 2**16
"""What no number and no sum of texts can leave the limits with, however they are written."""


def check_arguments(arguments: object) -> str | None:
    """Tells what makes `arguments` unfit for the wire, or None when nothing does.

    Fit is an object of JSON values with finite numbers and encodable text, within MAX_DEPTH and MAX_BYTES.
    Anything else breaks the road and not just one tool: a NaN turns into null, a lone surrogate ends a stdio
    connection, deep nesting hangs it. The walk keeps its own stack, so deep input cannot exhaust Python's.
    """
    if not isinstance(arguments, dict):
        return f"the arguments must be a JSON object, not {_kind(arguments)}"
    if _are_plain(cast("dict[object, object]", arguments)):
        return None
    size = 0
    pending: list[tuple[object, int, str]] = [(cast(object, arguments), 1, "the arguments")]
    while pending:
        value, level, place = pending.pop()
        if isinstance(value, dict | list):
            if level > MAX_DEPTH:
                return f"{place}: nested more than {MAX_DEPTH} levels deep"
            size += 2 + max(len(cast("list[object]", value)) - 1, 0)
        if isinstance(value, dict):
            for key, item in cast("dict[object, object]", value).items():
                if not isinstance(key, str) or _problem(key):
                    return f"{place}: a key must be encodable text, got {ascii(key)[:60]}"
                size += _size(key) + 1
                pending.append((item, level + 1, place if level > 1 else f"argument {key[:60]!r}"))
        elif isinstance(value, list):
            pending.extend((item, level + 1, place) for item in cast("list[object]", value))
        elif problem := _problem(value):
            return f"{place}: {problem}"
        else:
            size += _size(value)
        if size > MAX_BYTES:
            return f"the arguments are larger than {MAX_BYTES} bytes of JSON"
    return None


def is_storable(value: object) -> bool:
    """Whether a value from outside can be written into a file that our own reader takes: finite numbers,
    encodable text, and levels to spare for what stands around it."""
    level: list[object] = [value]
    for _ in range(MAX_NESTING - _LEVELS_AROUND):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below += cast("dict[object, object]", item).keys()
                below += cast("dict[object, object]", item).values()
            elif isinstance(item, list):
                below += cast("list[object]", item)
            elif _problem(item):
                return False
        if not below:
            return True
        level = below
    return False


def _are_plain(arguments: dict[object, object]) -> bool:
    """Whether they are short ASCII texts and small numbers, as most are; the others are looked at closely."""
    length = 0
    for pair in arguments.items():
        for one in pair:
            if isinstance(one, str) and one.isascii():
                length += len(one)
            elif one is pair[0] or not isinstance(one, int) or abs(one) > _SMALL:
                return False
    return length < _SHORT


def _problem(scalar: object) -> str | None:
    if isinstance(scalar, str):
        try:
            scalar.encode()
        except UnicodeEncodeError:
            return f"text with a lone surrogate cannot be encoded: {ascii(scalar)[:60]}"
        return None
    if isinstance(scalar, int | float):
        return None if _is_finite(scalar) else "a number must be finite and in the range of a double"
    return None if scalar is None else f"{_kind(scalar)} is not a JSON value"


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _size(scalar: object) -> int:
    text = json.dumps(scalar, ensure_ascii=False) if isinstance(scalar, str) else repr(scalar)
    return len(text.encode())


def _kind(value: object) -> str:
    names: dict[type[Any], str] = {type(None): "null", list: "a list", str: "a text", bool: "a boolean"}
    return names.get(type(value), f"a Python {type(value).__name__}")
