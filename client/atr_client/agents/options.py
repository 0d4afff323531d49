"""What the object at hand says about the values to choose from: `["basic: one seat", "pro: ten seats"]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from atr_client.agents.objects import evidence
from atr_client.agents.reading import Row


def described_values(row: Row, values: Sequence[str]) -> Mapping[str, str]:
    """The description of each value in a list of the object that describes at least two of them."""
    for field in row.fields.values():
        found = dict(_entries(field, values))
        if len(found) > 1:
            return found
    return {}


def value_by_description(row: Row, values: Sequence[str], statement: str, request: str) -> str | None:
    """The one value whose description a statement leans to most; None when no single one stands out."""
    described = described_values(row, values)
    fits = evidence([Row({"offers": text}) for text in described.values()], statement, request)
    ranked = sorted(zip(fits, described, strict=True), reverse=True)
    if not ranked or ranked[0][0] <= max(ranked[1][0], 0.0):
        return None
    return ranked[0][1]


def _entries(field: Any, values: Sequence[str]) -> list[tuple[str, str]]:
    if not isinstance(field, list):
        return []
    pairs = (str(item).partition(":") for item in cast(list[object], field))
    return [(name, text.strip()) for name, colon, text in pairs if colon and name in values]
