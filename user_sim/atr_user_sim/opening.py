"""What the opening line of a learning session may give away: the kind of task and a broad first hint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from atr_data.episode import GoldStep
from atr_ontology import load_ontology

_DOC_TYPE_KEYS = ("doc_type", "source_doc_type", "template_doc_type", "reference_doc_type")


def opening_hint(gold_trajectory: Sequence[GoldStep], task_params: Mapping[str, Any]) -> dict[str, Any]:
    """The hintable arguments of the first gold step that the user's own requirements mention.

    A value is mentioned when it equals a task parameter or a leaf of one, or all its leaves do; strings are
    compared stripped and lower-cased, other values as JSON. A document type must be the whole value of a
    document type parameter. The sender of sent mail is the user, so it is no hint.
    """
    if not gold_trajectory:
        return {}
    tool, arguments = gold_trajectory[0].tool, gold_trajectory[0].arguments
    allowed = hintable(tool)
    if tool == "search_messages" and _normal(arguments.get("folder")) == "sent":
        allowed.discard("sender")
    mentioned = {_normal(part) for value in task_params.values() for part in (value, *_atoms(value))}
    doc_types = {_normal(task_params[key]) for key in _DOC_TYPE_KEYS if key in task_params}

    def is_grounded(name: str, value: Any) -> bool:
        if tool == "search_documents" and name == "doc_type":
            return _normal(value) in doc_types
        atoms = [_normal(atom) for atom in _atoms(value)]
        return _normal(value) in mentioned or (bool(atoms) and mentioned.issuperset(atoms))

    return {n: v for n, v in arguments.items() if n in allowed and is_grounded(n, v)}


def hintable(tool: str) -> set[str]:
    """The arguments of a first step that may show in the opening."""
    types = (kind for domain in load_ontology().domains.values() for kind in domain.objects.values())
    return {name for kind in types for name in kind.searches.get(tool, ())}


def task_type(gold_trajectory: Sequence[GoldStep]) -> str:
    """What the domain of the first gold tool is about; empty when no domain has that tool."""
    first = gold_trajectory[0].tool if gold_trajectory else None
    domains = load_ontology().domains.values()
    return next((d.description for d in domains if any(t.name == first for t in d.tools)), "")


def _normal(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text.lower()


def _atoms(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(cast(dict[str, Any], value).values())
    if isinstance(value, list):
        for item in cast(list[Any], value):
            yield from _atoms(item)
    else:
        yield value
