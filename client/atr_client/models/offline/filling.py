"""Arguments for a call, from what the request, a remembered statement and the objects shown so far say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from atr_client.models.base import ToolSpec
from atr_client.models.offline.choosing import best_rows, best_value
from atr_client.models.offline.reading import Row, properties, required, row_key
from atr_client.models.offline.wording import ceiling, count_near, moments, overlap, rarity, stems

_IDENTITY = frozenset({"shipping_address", "payment_method", "contact_info", "traveler_info", "guest_info"})
_ROUTE = re.compile(r"\bfrom ([A-Z][\w .,'-]*?) to ([A-Z][\w .'-]*?(?:, [A-Z]{2}\b)?)(?=[\s,.;]|$)")
_NOUNS = {
    "quantity": ("pack", "bag", "box", "bottle", "unit", "item", "piece", "set"),
    "party_size": ("people", "person", "guest", "of us", "adult"),
    "ticket_count": ("ticket", "seat", "people"),
    "passenger_count": ("passenger", "traveler", "traveller", "people", "person", "adult", "seat"),
    "guest_count": ("guest", "people", "person", "adult"),
    "room_count": ("room",),
    "duration_days": ("day",),
    "traveler_count": ("traveler", "traveller", "people", "person", "adult"),
}
SAME = 0.6
"""How much of the best object's score another one needs to be meant as well, in a list."""


def search_arguments(tool: ToolSpec, request: str) -> dict[str, Any]:
    """The required arguments of a search, wide rather than narrow: text filters match on any shared word."""
    return {
        name: count_near(request, _NOUNS.get(name, ())) or 1
        if properties(tool)[name]["type"] == "integer"
        else _place(name, request)
        for name in required(tool)
    }


def action_arguments(
    tool: ToolSpec, request: str, statement: str, rows: Sequence[Row], skip: int = 0
) -> dict[str, Any]:
    """Arguments of a call that acts. `skip` passes over that many of the best objects, for another try."""
    arguments: dict[str, Any] = {}
    needed = set(required(tool))
    for name, schema in properties(tool).items():
        if name in _IDENTITY:
            continue
        value = _argument(tool, name, schema, request, statement, rows, skip, name in needed)
        if value is not None:
            arguments[name] = value
    if "recipient" in arguments and "thread_id" in arguments:
        del arguments["recipient"]
    return arguments


def _argument(
    tool: ToolSpec,
    name: str,
    schema: Mapping[str, Any],
    request: str,
    statement: str,
    rows: Sequence[Row],
    skip: int,
    needed: bool,
) -> Any:
    if "enum" in schema:
        value = best_value(tool, name, statement) or best_value(tool, name, request)
        return value or (schema["enum"][0] if needed else None)
    if name.endswith("_ids"):
        chosen = _ids(name, rows, request, statement)
        return chosen if chosen or needed else None
    if name.endswith("_id"):
        found = best_rows(_holding(rows, row_key(name)), request, statement)
        chosen = found[min(skip, len(found) - 1)].fields[row_key(name)] if found else None
        return chosen if chosen is not None else ("unknown" if needed else None)
    if not needed and name != "recipient":
        return None
    return _plain(name, schema, request)


def _ids(name: str, rows: Sequence[Row], request: str, statement: str) -> list[str]:
    key = row_key(name)
    found = _holding(rows, key)
    if not found:
        return []
    ranked = best_rows(found, request, statement)
    if key in ("stop_id", "destination_id", "label_id"):
        return [str(ranked[0].fields[key])]
    words = [stems(row.text) for row in ranked]
    weight = rarity(words)
    asked = dict.fromkeys(stems(request), 1)
    scores = [overlap(asked, row_words, weight) for row_words in words]
    best = max(scores)
    return [str(row.fields[key]) for row, score in zip(ranked, scores, strict=True) if score >= SAME * best]


def _holding(rows: Sequence[Row], key: str) -> list[Row]:
    return [row for row in rows if row.fields.get(key)]


def _plain(name: str, schema: Mapping[str, Any], request: str) -> Any:
    found = moments(request)
    match schema["type"]:
        case "integer":
            return count_near(request, _NOUNS.get(name, ())) or 1
        case "number":
            return ceiling(request)
        case "array":
            return [piece.strip() for piece in re.split(r",| and ", request) if piece.strip()]
        case "object" | "boolean":
            return None
        case _ if name == "recipient":
            match = re.search(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", request)
            return match[0] if match else None
        case _ if "end" in name and found:
            return found[1] if len(found) > 1 else f"{found[0][:10]}T23:59"
        case _ if any(part in name for part in ("date", "time", "until", "remind_at")):
            return found[0] if found else None
        case _:
            return _place(name, request)


def _place(name: str, request: str) -> str:
    if name in ("origin", "destination") and (match := _ROUTE.search(request)):
        return match[1] if name == "origin" else match[2]
    return request.strip()
