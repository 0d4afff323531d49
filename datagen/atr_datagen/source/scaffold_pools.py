"""The test of a planned rule in outline: pool type, columns, tagged rows, and what the gold calls need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase

from atr_datagen.plan.dealing import PULL
from atr_datagen.plan.model import PlannedRule
from atr_datagen.source.document import UNWRITTEN as TO_WRITE
from atr_ontology import Parameter, Tool, load_ontology

_ATTRIBUTES: Mapping[str, Sequence[str]] = {
    "subscription": ("name", "plan", "price_per_period"),
    "flight_offer": ("airline", "departure_date", "price"),
    "transport_offer": ("mode", "operator", "price"),
    "message": ("sender", "subject", "timestamp"),
    "calendar_event": ("title", "start_time", "end_time", "calendar"),
    "event": ("name", "date_time", "price"),
    "document": ("title", "doc_type"),
    "tracker": ("title",),
    "file": ("name", "file_type"),
    "product": ("name", "price"),
}
"""Columns that objects of a type usually have; the others have a name."""
DECIDING = "what_decides"
"""Stands for the attribute by which the faces tell objects apart."""


def outline(rule: PlannedRule) -> Iterator[str]:
    """Lines below `test:`."""
    tools = [tool for name in rule.tools if (tool := load_ontology().tool(name)) is not None]
    chosen = rule.parameter if rule.type == "param_id" else ""
    yield f"say: {TO_WRITE}"
    if rule.type == "param_id":
        yield "must: []  # stated limits; each limit row fails exactly one"
        yield f"pulls: {{{', '.join(f'{pull.field}: {pull.direction}' for pull in rule.pulls)}}}"
    needed = _needed(tools, rule.parameter)
    if needed:
        yield f"target: {{{', '.join(f'{name}: {TO_WRITE}' for name in needed)}}}"
    kind, link = _pool(rule.domain, [chosen] if chosen else needed or _takes(tools, rule.domain))
    if kind is None:
        yield "# no object is needed; add a pool if the instruction speaks of one"
        return
    own = _ATTRIBUTES.get(kind, ("name",))
    columns = ["key", *own, *([link] if link else [])]
    if rule.type == "param_id":
        pulls = [pull.field for pull in rule.pulls if pull.field not in own]
        columns = ["tag", *columns, *pulls, DECIDING]
    yield f"{kind}: [{', '.join(columns)}]"
    yield "rows:"
    for key, (tag, comment) in zip(ascii_lowercase, _rows(rule), strict=False):
        cells = [*([tag] if tag else []), key, *[TO_WRITE] * (len(columns) - bool(tag) - 1)]
        yield f"- [{', '.join(cells)}]{comment}"


def _rows(rule: PlannedRule) -> Iterator[tuple[str, str]]:
    if rule.type != "param_id":
        yield from [("", "")] * 2
        return
    for number in range(1, rule.faces + 1):
        yield "face", f"  # gold of face {number}"
    yield PULL, ""
    yield from [("near", "")] * (rule.candidates - rule.faces - 1 - len(rule.limits))
    for repeated in rule.limits:
        whose = "the pull row" if repeated == PULL else f"face {repeated}"
        yield "limit", f"  # {DECIDING} as in {whose}"


def _needed(tools: Sequence[Tool], chosen: str) -> list[str]:
    """Arguments that a gold call needs beside the chosen one; free text is made up when calls are tried."""
    found = [p for tool in tools for p in tool.parameters if p.required and p.name != chosen]
    guards = [
        tool.guard.parameters[0] for tool in tools if tool.guard and chosen not in tool.guard.parameters
    ]
    return list(dict.fromkeys([*(p.name for p in found if not _free(p)), *guards]))


def _free(parameter: Parameter) -> bool:
    return parameter.type == "string" and not parameter.enum and not parameter.names_object


def _takes(tools: Sequence[Tool], domain: str) -> list[str]:
    known = load_ontology().object_parameters(domain)
    return [p.name for tool in tools for p in tool.parameters if p.name in known]


def _pool(domain: str, parameters: Sequence[str]) -> tuple[str | None, str | None]:
    """The type that the first such parameter takes, and the linking attribute by which it does."""
    for parameter in parameters:
        for kind, spec in load_ontology().objects(domain).items():
            if parameter in spec.parameters:
                return kind, None
            if parameter == spec.link:
                return kind, spec.link
    return None, None
