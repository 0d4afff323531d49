"""Ids of tool calls, which must not repeat within a session: results are told apart by them."""

from __future__ import annotations

import re
from collections.abc import Collection

_MARK = re.compile(r"_again_\d+$")


def unique_id(given: str, taken: Collection[str]) -> str:
    """`given`, or with a mark behind it when it is taken. The mark holds no sign that a provider refuses."""
    call_id, number = given, 0
    while call_id in taken:
        number += 1
        call_id = f"{given}_again_{number}"
    return call_id


def is_renamed(call_id: str) -> bool:
    return _MARK.search(call_id) is not None
