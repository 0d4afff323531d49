"""Required actions as whole calls: a label names what is compared, a call needs everything required."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atr_data.episode import Reference, TestSession
from atr_ontology import Parameter, load_ontology

_CONSTANTS: Mapping[str, Any] = {
    "integer": 1,
    "number": 1,
    "boolean": False,
    "object": {},
    "array[string]": [],
    "date": "2026-01-05",
    "datetime": "2026-01-05T09:00:00",
    "string": "as agreed",
}
_LATER = "2026-01-05T10:00:00"


def complete_arguments(session: TestSession, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The gold arguments, and what a required parameter lacks: from `labels.target`, else the first
    reference of the right type, else a valid constant."""
    filled = dict(arguments)
    known = load_ontology().tool(tool)
    parameters = known.parameters if known else ()
    targets = {p.name: session.labels.target[p.name] for p in parameters if p.name in session.labels.target}
    filled = {**targets, **filled}
    for parameter in parameters:
        if parameter.required and parameter.name not in filled:
            filled[parameter.name] = _any_value(parameter, session, filled)
    guard = known.guard if known else None
    if guard and not any(name in filled for name in guard.parameters):
        filled[guard.parameters[0]] = _CONSTANTS["string"]
    return filled


def _any_value(parameter: Parameter, session: TestSession, filled: Mapping[str, Any]) -> Any:
    if ids := _ids(parameter.name, session.domain, session.local_env.references):
        return ids[:1] if parameter.takes_many else ids[0]
    if parameter.enum:
        return parameter.enum[0]
    if parameter.name == "new_value":
        return _new_value(str(filled.get("field", "")))
    return _LATER if "end" in parameter.name else _CONSTANTS[parameter.type]


def _new_value(field: str) -> str:
    """A value that the field of a `modify_*` tool takes."""
    if field.endswith("time"):
        return str(_CONSTANTS["datetime"])
    return "1" if field.endswith(("_count", "_size", "quantity")) else str(_CONSTANTS["string"])


def _ids(parameter: str, domain: str, references: Sequence[Reference]) -> list[str]:
    """Ids among the references that the parameter can take, in order."""
    types = load_ontology().objects(domain)
    named = (types[r.type].id_for(parameter, r.id, r.attributes) for r in references if r.type in types)
    return [name for name in named if name is not None]
