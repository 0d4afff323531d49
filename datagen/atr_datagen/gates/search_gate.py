"""Gate E3: what the gold call names can be found by a search that says only what the instruction says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, cast

from atr_data.episode import Episode, Reference, TestSession
from atr_data.reference_types import reference_parameters
from atr_datagen.gates.calls import (
    Arguments,
    acting_arguments,
    linked_id,
    open_world,
    outcome,
    required_action,
)
from atr_datagen.text import has_phrase
from atr_ontology import Parameter, load_ontology

_SEARCHES = {
    "product": "search_products",
    "subscription": "review_recurring_charges",
    "restaurant": "search_restaurants",
    "service_provider": "search_service_providers",
    "destination": "search_destinations",
    "flight_offer": "search_flights",
    "hotel_offer": "search_hotels",
    "transport_offer": "search_ground_transport",
    "trip_stop": "search_trip_stops",
    "message": "search_messages",
    "label": "list_labels",
    "calendar_event": "list_events",
    "file": "list_files",
    "document": "search_documents",
    "tracker": "list_trackers",
}
_BY_DOMAIN = {
    ("communication", "folder"): "list_message_folders",
    ("workspace", "folder"): "list_file_folders",
    ("reservation", "event"): "search_events",
    ("scheduling", "event"): "list_events",
}
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()


async def search_problems(episode: Episode, test: TestSession) -> list[str]:
    """Why a search that says only what the instruction says does not find an object the gold call names."""
    named = {**test.labels.target, **acting_arguments(required_action(test))}
    problems: list[str] = []
    for reference in _named_references(test, named):
        search = _BY_DOMAIN.get((test.domain, reference.type)) or _SEARCHES[reference.type]
        tool = load_ontology().tool(search)
        assert tool is not None, "searches are tools of the ontology"
        choices = {p.name: _stated(p, reference, test.instruction) for p in tool.parameters if p.required}
        unsaid = [name for name, values in choices.items() if not values]
        if unsaid:
            problems.append(f"the instruction does not say {', '.join(unsaid)}, which {search} needs")
        elif not await _is_found(episode, test, search, choices, reference):
            problems.append(f"{search} does not find {reference.id} with what the instruction says")
    return problems


def _named_references(test: TestSession, arguments: Arguments) -> list[Reference]:
    ids = {
        str(item)
        for name, value in arguments.items()
        if name in reference_parameters(test.domain)
        for item in (cast(list[Any], value) if isinstance(value, list) else [value])
    }
    return [r for r in test.local_env.references if ids & {r.id, linked_id(r, test.domain)}]


def _stated(parameter: Parameter, reference: Reference, say: str) -> list[Any]:
    """What the instruction offers for a filter: its numbers, or the object's text where it says that."""
    if parameter.type == "integer":
        digits = [int(n) for n in re.findall(r"(?<![\d$.:-])\d{1,2}(?![\d.:-]\d|\d)", say)]
        return digits + [n for n, word in enumerate(_NUMBERS, start=1) if has_phrase(word, say)]
    text = str(reference.attributes.get(parameter.name, ""))
    return [form for form in (text, text.partition(",")[0]) if form and has_phrase(form, say)][:1]


async def _is_found(
    episode: Episode, test: TestSession, search: str, choices: Mapping[str, Sequence[Any]], wanted: Reference
) -> bool:
    async with open_world(episode, test) as client:
        for values in product(*choices.values()):
            arguments: dict[str, Any] = dict(zip(choices, values, strict=True))
            if search == "review_recurring_charges":
                arguments["focus"] = "all"
            if search == "search_messages" and wanted.attributes.get("archived"):
                arguments |= {"folder": "archive"} if has_phrase("archive", test.instruction) else {}
            content, _ = await outcome(client, search, arguments)
            rows: list[dict[str, Any]] = content.get("results") or content.get("subscriptions") or []
            if any(wanted.id in row.values() for row in rows):
                return True
    return False
