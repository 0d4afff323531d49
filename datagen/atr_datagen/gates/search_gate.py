"""Gate E3: what the gold call names can be found by a search that says only what the instruction says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, cast

from atr_data.english.words import NUMBER_WORDS, has_phrase
from atr_data.episode import Episode, Reference, TestSession
from atr_datagen.gates.calls import (
    Arguments,
    acting_arguments,
    open_world,
    outcome,
    required_action,
)
from atr_datagen.text import flat
from atr_ontology import Parameter, load_ontology


async def search_problems(episode: Episode, test: TestSession, chosen_by: Iterable[str] = ()) -> list[str]:
    """Why a search that says only what the instruction says does not find an object the gold call names, and
    which of the attributes that the object is chosen by it does not show."""
    named = {**test.labels.target, **acting_arguments(required_action(test))}
    problems: list[str] = []
    for reference in _named_references(test, named):
        search = load_ontology().objects(test.domain)[reference.type].search
        tool = load_ontology().tool(search)
        assert tool is not None, "searches are tools of the ontology"
        choices = {p.name: _stated(p, reference, test.instruction) for p in tool.parameters if p.required}
        unsaid = [name for name, values in choices.items() if not values]
        if unsaid:
            problems.append(f"the instruction does not say {', '.join(unsaid)}, which {search} needs")
        elif not (row := await _found(episode, test, search, choices, reference)):
            problems.append(f"{search} does not find {reference.id} with what the instruction says")
        elif hidden := [name for name in chosen_by if not _shows(row, name, reference)]:
            problems.append(f"{search} does not show {', '.join(hidden)}, which the choice goes by")
    return problems


def _named_references(test: TestSession, arguments: Arguments) -> list[Reference]:
    ids = {
        str(item)
        for name, value in arguments.items()
        if name in load_ontology().object_parameters(test.domain)
        for item in (cast(list[Any], value) if isinstance(value, list) else [value])
    }
    types = load_ontology().objects(test.domain)

    def is_named(reference: Reference) -> bool:
        link = types[reference.type].link if reference.type in types else None
        return bool(ids & {reference.id, str(reference.attributes.get(link or ""))})

    return [reference for reference in test.local_env.references if is_named(reference)]


def _stated(parameter: Parameter, reference: Reference, say: str) -> list[Any]:
    """What the instruction offers for a filter: its numbers, or the object's text where it says that."""
    if parameter.type == "integer":
        digits = [int(n) for n in re.findall(r"(?<![\d$.:-])\d{1,2}(?![\d.:-]\d|\d)", say)]
        return digits + [n for n, word in enumerate(NUMBER_WORDS[1:], start=1) if has_phrase(word, say)]
    text = str(reference.attributes.get(parameter.name, ""))
    return [form for form in (text, text.partition(",")[0]) if form and has_phrase(form, say)][:1]


def _shows(row: Mapping[str, Any], name: str, reference: Reference) -> bool:
    """By its name or, as in a folder's name that tells its age, by its value."""
    extra: dict[str, Any] = row.get("attributes") or {}
    if name not in reference.attributes or name in row or name in extra:
        return True
    return has_phrase(flat(reference.attributes[name]), flat({**row, "attributes": None}))


async def _found(
    episode: Episode, test: TestSession, search: str, choices: Mapping[str, Sequence[Any]], wanted: Reference
) -> dict[str, Any] | None:
    async with open_world(episode, test) as client:
        for values in product(*choices.values()):
            arguments: dict[str, Any] = dict(zip(choices, values, strict=True))
            if search == "review_recurring_charges":
                arguments["focus"] = "all"
            if search == "search_messages" and wanted.attributes.get("archived"):
                arguments |= {"folder": "archive"} if has_phrase("archive", test.instruction) else {}
            content, _ = await outcome(client, search, arguments)
            rows: list[dict[str, Any]] = content.get("results") or content.get("subscriptions") or []
            if row := next((row for row in rows if wanted.id in row.values()), None):
                return row
    return None
