"""One session's environment: made from references and persona, changed by tool calls, nothing else in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast

import structlog

from atr_data.episode import PersonaProfile, Reference
from atr_data.limits import check_arguments
from atr_ontology import Domain, Tool, load_ontology
from atr_servers.arguments import nearest, read_arguments
from atr_servers.domains import (
    base,
    commerce,
    communication,
    reservation,
    scheduling,
    travel,
    travel_bookings,
    workspace,
)
from atr_servers.domains.tables import Refusal, Rows, State, excerpt

_MODULES: Mapping[str, tuple[ModuleType, ...]] = {
    "commerce": (commerce,),
    "reservation": (reservation,),
    "travel": (travel, travel_bookings),
    "communication": (communication,),
    "scheduling": (scheduling,),
    "workspace": (workspace,),
}
"""Where the handlers of a domain stand; the first module holds its tables."""

_IGNORED_ARGUMENTS = ("wait_for_previous",)
"""Arguments that a client adds to calls of its own accord; they are dropped and reported."""

_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call answers: a JSON object, `{"error": message}` when it was refused."""

    content: dict[str, Any]
    is_error: bool = False
    dropped_arguments: tuple[str, ...] = ()


class Environment:
    """The tools of one domain on one state. `tools` are those offered, in the ontology's order, `handlers`
    those of the whole domain."""

    def __init__(self, domain: Domain, tools: tuple[Tool, ...], state: State) -> None:
        self.domain = domain
        self.tools = tools
        self.state = state
        modules = (base, *_MODULES[domain.name])
        names = [tool.name for tool in load_ontology().offered(domain.name)]
        self.handlers = {
            name: getattr(next(module for module in modules if hasattr(module, name)), name) for name in names
        }

    @classmethod
    def build(
        cls,
        domain: str,
        references: Iterable[Reference | Mapping[str, Any]],
        persona: PersonaProfile | None = None,
        allowed_tools: Iterable[str] | None = None,
    ) -> Environment:
        """Raises ValueError for an unknown domain, an allowed tool that the domain lacks, or a bad reference.

        References of a type that the domain does not know are skipped, as are those without id or type.
        """
        ontology = load_ontology()
        if domain not in ontology.domains:
            names = ", ".join(ontology.domains)
            raise ValueError(f"unknown domain {domain!r}; one of {names}{nearest(domain, ontology.domains)}")
        tools = {tool.name: tool for tool in ontology.offered(domain)}
        allowed = set(tools) if allowed_tools is None else set(allowed_tools)
        if foreign := sorted(allowed - set(tools)):
            raise ValueError(f"the domain {domain} has no tool {foreign[0]!r}{nearest(foreign[0], tools)}")
        allowed |= {tool.name for tool in ontology.base_tools}
        objects = ontology.objects(domain)
        state = State(_MODULES[domain][0].TABLES, objects, persona or PersonaProfile(persona_id=""))
        _hydrate(state, references)
        offered = tuple(tool for name, tool in tools.items() if name in allowed)
        return cls(ontology.domains[domain], offered, state)

    def call(self, name: str, arguments: object = None) -> Answer:
        """Carries out one call. It changes the state or answers an error, never both."""
        dropped: tuple[str, ...] = ()
        try:
            tool = self._tool(name)
            given = _checked({} if arguments is None else arguments)
            dropped = tuple(argument for argument in _IGNORED_ARGUMENTS if argument in given)
            wanted = {argument: value for argument, value in given.items() if argument not in dropped}
            content = self.handlers[name](self.state, **read_arguments(tool, wanted))
        except Refusal as refusal:
            return Answer({"error": str(refusal)}, is_error=True, dropped_arguments=dropped)
        return Answer(content, dropped_arguments=dropped)

    def _tool(self, name: str) -> Tool:
        tool = next((tool for tool in self.tools if tool.name == name), None)
        if tool is None:
            shown = name.encode(errors="backslashreplace").decode()[:_MAX_NAME]
            reason = " (it is not offered in this session)" if name in self.handlers else ""
            raise Refusal(f"Unknown tool: {shown}{reason}")
        return tool

    def snapshot(self) -> dict[str, Any]:
        """The state as a JSON object of its own: `{"domain", "tables": {table: {id: row}}}`."""
        return {"domain": self.domain.name, "tables": deepcopy(self.state.rows)}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Takes over the state of a snapshot. Raises ValueError when it is none of this domain."""
        tables = snapshot.get("tables")
        if snapshot.get("domain") != self.domain.name or not _are_tables(tables, self.state.tables):
            raise ValueError(f"no snapshot of a {self.domain.name} environment")
        self.state.rows = deepcopy(cast("dict[str, Rows]", tables))


def _hydrate(state: State, references: Iterable[Reference | Mapping[str, Any]]) -> None:
    tables = {name: table for table in state.tables.values() for name in table.reference_types}
    for reference in references:
        raw = dict(reference)
        reference_id, kind, attributes = raw.get("id"), raw.get("type"), raw.get("attributes", {})
        if not reference_id or not isinstance(kind, str) or kind not in tables:
            structlog.get_logger().warning("reference skipped", reference=reference_id, type=kind)
            continue
        if not isinstance(reference_id, str):
            raise ValueError(f"reference {excerpt(reference_id)}: the id must be text")
        if problem := check_arguments(attributes):
            raise ValueError(f"reference {reference_id!r} of type {kind}: attributes: {problem}")
        try:
            state.load(tables[kind], reference_id, attributes)
        except ValueError as error:
            raise ValueError(f"reference {reference_id!r} of type {kind}: {error}") from error


def _checked(arguments: object) -> dict[str, Any]:
    if problem := check_arguments(arguments):
        raise Refusal(problem)
    return cast("dict[str, Any]", arguments)


def _are_tables(tables: object, names: Iterable[str]) -> bool:
    if not isinstance(tables, dict):
        return False
    rows = list(cast("dict[str, object]", tables).values())
    return set(cast("dict[str, object]", tables)) == set(names) and all(isinstance(r, dict) for r in rows)
