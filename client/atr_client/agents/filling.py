"""Arguments for a call, from what the request, a remembered statement and the objects shown so far say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from atr_client.agents.amounts import ceiling, count_near, moments
from atr_client.agents.choosing import best_value
from atr_client.agents.objects import best_rows
from atr_client.agents.reading import Row, properties, required, row_key
from atr_client.agents.remembering import Memory
from atr_client.models.base import ToolSpec
from atr_data.english.words import AGENTS, rarity
from atr_ontology import names_object

_IDENTITY = frozenset({"shipping_address", "payment_method", "contact_info", "traveler_info", "guest_info"})
_ROUTE = re.compile(r"\bfrom ([A-Z][\w .,'-]*?) to ([A-Z][\w .'-]*?(?:, [A-Z]{2}\b)?)(?=[\s,.;]|$)")
_FACT = re.compile(r"\bThe ([a-z]+(?: [a-z]+)*?) is (.+?)\.?(?=\s+(?:The [a-z]|Please )|\s*$)", re.M)
_LOOKING_UP = re.compile(
    r"\b(?:find|dig|look (?:up|for|through)|search|track down|pull up|show me|go through|check on|list)\b",
    re.I,
)
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
_ALTERNATIVES = ("stop_id", "destination_id", "label_id")
"""Kinds of objects of which one is chosen although a list is taken."""
SAME = 0.6
"""How much of the best object's score another one needs to be meant as well, in a list."""


def facts(text: str) -> dict[str, str]:
    """What a text says in the form `The check in date is 2027-05-01.`, by the name of the parameter."""
    return {match[1].replace(" ", "_"): match[2].strip() for match in _FACT.finditer(text)}


def search_arguments(tool: ToolSpec, memory: Memory) -> dict[str, Any]:
    """The required arguments of a search, wide rather than narrow: text filters match on any shared word.
    Where finding something is all that is asked, a statement may say in which part to look."""
    arguments = {
        name: _plain(name, properties(tool)[name], memory.request) or memory.request.strip()
        for name in required(tool)
    }
    if _LOOKING_UP.search(memory.request):
        options = [name for name, schema in properties(tool).items() if "enum" in schema]
        decided = {name: memory.value(tool, name, None) for name in options}
        arguments |= {name: value for name, value in decided.items() if value is not None}
    return arguments


def action_arguments(tool: ToolSpec, memory: Memory, rows: Sequence[Row], skip: int = 0) -> dict[str, Any]:
    """Arguments of a call that acts. `skip` passes over that many of the best objects, for another try."""
    arguments: dict[str, Any] = {}
    needed = set(required(tool))
    for name, schema in properties(tool).items():
        if name in _IDENTITY:
            continue
        value = _argument(tool, name, schema, memory, rows, skip, name in needed)
        if value is not None:
            arguments[name] = value
    if "recipient" in arguments and "thread_id" in arguments:
        del arguments["recipient"]
    return arguments


def _argument(
    tool: ToolSpec,
    name: str,
    schema: Mapping[str, Any],
    memory: Memory,
    rows: Sequence[Row],
    skip: int,
    needed: bool,
) -> Any:
    request = memory.request
    if "enum" in schema:
        said = facts(request).get(name, "").replace(" ", "_")
        chosen = _chosen(tool, memory, rows, skip)
        value = memory.value(tool, name, chosen)
        value = value or (said if said in schema["enum"] else best_value(tool, name, request))
        return value or (schema["enum"][0] if needed else None)
    if names_object(name):
        key = row_key(name)
        ranked = _ranked(tool, key, memory, rows)
        if schema["type"] == "array":
            return _ids(key, ranked, request) if ranked or needed else None
        chosen = ranked[min(skip, len(ranked) - 1)].fields[key] if ranked else None
        return chosen if chosen is not None else ("unknown" if needed else None)
    if not needed and name != "recipient" and name not in facts(request):
        return None
    return _plain(name, schema, request)


def _ranked(tool: ToolSpec, key: str, memory: Memory, rows: Sequence[Row]) -> list[Row]:
    found = [row for row in rows if row.fields.get(key)]
    return best_rows(found, memory.request, memory.on_object(tool, found)) if found else []


def _chosen(tool: ToolSpec, memory: Memory, rows: Sequence[Row], skip: int) -> Row | None:
    """The object that the first id of a call stands for."""
    name = next((name for name in properties(tool) if names_object(name)), None)
    ranked = _ranked(tool, row_key(name), memory, rows) if name else []
    return ranked[min(skip, len(ranked) - 1)] if ranked else None


def _ids(key: str, ranked: Sequence[Row], request: str) -> list[str]:
    """The best object when the others are alternatives to it, else all that the request means as well."""
    if key in _ALTERNATIVES or not ranked:
        return [str(row.fields[key]) for row in ranked[:1]]
    words = [AGENTS.stems(row.text) for row in ranked]
    weight = rarity(words)
    asked = set(AGENTS.stems(request))
    scores = [fsum(weight[word] for word in set(row_words) & asked) for row_words in words]
    best = max(scores)
    return [str(row.fields[key]) for row, score in zip(ranked, scores, strict=True) if score >= SAME * best]


def _plain(name: str, schema: Mapping[str, Any], request: str) -> Any:
    said = facts(request).get(name)
    found = moments(said or request)
    match schema["type"]:
        case "integer":
            return int(said) if said and said.isdigit() else count_near(request, _NOUNS.get(name, ())) or 1
        case "number":
            return ceiling(request)
        case "array":
            return [piece.strip() for piece in re.split(r"[;,]| and ", said or request) if piece.strip()]
        case "object" | "boolean":
            return None
        case _ if name == "recipient":
            match = re.search(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", request)
            return match[0] if match else None
        case _ if "end" in name and found:
            return found[1] if len(found) > 1 else said or f"{found[0][:10]}T23:59"
        case _ if any(part in name for part in ("date", "time", "until", "remind_at")):
            return found[0] if found else None
        case _:
            return said or _place(name, request)


def _place(name: str, request: str) -> str:
    if name in ("origin", "destination") and (match := _ROUTE.search(request)):
        return match[1] if name == "origin" else match[2]
    return request.strip()
