"""The ontology as typed values: domains, tools, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Literal, cast

import yaml

ParameterType = Literal[
    "string", "number", "integer", "boolean", "object", "array[string]", "enum", "date", "datetime"
]
NullPolicy = Literal["omit", "error", "echo"]
EmptyPolicy = Literal["keep", "omit"]
DOMAINS = ("commerce", "reservation", "travel", "communication", "scheduling", "workspace")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool.

    `null` says what an explicit JSON null means for an optional parameter: `omit`, the same as leaving it
    out; `error`, refused; `echo`, handed to the tool as null. `empty` says what `""` means for an optional
    parameter: `omit`, the same as leaving it out; `keep`, a value like any other.
    """

    name: str
    type: ParameterType
    required: bool
    description: str
    enum: tuple[str, ...] = ()
    default: str | bool | None = None
    null: NullPolicy = "omit"
    empty: EmptyPolicy = "keep"

    @property
    def names_object(self) -> bool:
        return names_object(self.name)

    @property
    def takes_many(self) -> bool:
        return self.type == "array[string]"


@dataclass(frozen=True, slots=True)
class Guard:
    """A rule over several parameters; "given" means not null, not `""` and not `[]`."""

    kind: Literal["exactly_one_of", "at_least_one_of"]
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `kind` is `read` when a call changes no state; the hints are those of MCP. `since` is the
    version of the ontology that it came with."""

    name: str
    title: str
    kind: Literal["read", "write"]
    description: str
    parameters: tuple[Parameter, ...]
    guard: Guard | None = None
    destructive: bool = False
    idempotent: bool = False
    since: int = 1

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A kind of object that a session may hold, made from references of one type.

    `prefix` begins the opaque ids. `parameters` take the id. `searches` find the object, the plainest first,
    each with the arguments of which an opening may tell. `link` is the attribute that names a second object
    made from the same reference (an order made from a product), and the parameter that takes its id.
    """

    name: str
    prefix: str
    parameters: tuple[str, ...]
    searches: Mapping[str, tuple[str, ...]]
    link: str | None = None
    link_prefix: str | None = None

    @property
    def search(self) -> str:
        """The tool that finds objects of this type."""
        return next(iter(self.searches))

    def id_for(self, parameter: str, own_id: str, attributes: Mapping[str, Any]) -> str | None:
        """The id by which a parameter names an object with that id and those attributes: its own, or that of
        the object linked to it. None when it cannot name this object."""
        if parameter in self.parameters:
            return own_id
        linked = attributes.get(parameter) if parameter == self.link else None
        return str(linked) if linked else None


@dataclass(frozen=True, slots=True)
class Domain:
    """A group of tools served together. `policy` tells an agent where ids come from.

    The tools of a row of `rivals` answer the same kind of request, and none stands in two rows. Within a row
    of `choices` a wish of the user can decide.
    """

    name: str
    description: str
    policy: str
    tools: tuple[Tool, ...]
    objects: Mapping[str, ObjectType]
    rivals: tuple[tuple[str, ...], ...]
    choices: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Ontology:
    """All tools: the domains, the base tools of every domain, and the tools of the turn loop."""

    version: int
    domains: Mapping[str, Domain]
    base_tools: tuple[Tool, ...]
    session_tools: tuple[Tool, ...]

    def domain(self, name: str) -> Domain:
        """Raises KeyError that names the domains when there is no such domain."""
        if name not in self.domains:
            raise KeyError(f"unknown domain {name!r}; one of: {', '.join(self.domains)}")
        return self.domains[name]

    def objects(self, domain: str) -> Mapping[str, ObjectType]:
        """The kinds of objects of a domain by reference type; none when there is no such domain."""
        return self.domains[domain].objects if domain in self.domains else {}

    def object_parameters(self, domain: str) -> frozenset[str]:
        """The parameters of a domain's tools that take the ids of a session's objects."""
        return self._object_parameters.get(domain, frozenset())

    @cached_property
    def _object_parameters(self) -> Mapping[str, frozenset[str]]:
        return {
            name: frozenset(
                parameter
                for kind in domain.objects.values()
                for parameter in (*kind.parameters, kind.link)
                if parameter
            )
            for name, domain in self.domains.items()
        }

    @cached_property
    def link_prefixes(self) -> Mapping[str, str]:
        """How the ids begin that a linking attribute holds."""
        types = (kind for domain in self.domains.values() for kind in domain.objects.values())
        return {kind.link: kind.link_prefix for kind in types if kind.link and kind.link_prefix}

    @cached_property
    def rivals(self) -> tuple[tuple[str, ...], ...]:
        return tuple(row for domain in self.domains.values() for row in domain.rivals)

    @cached_property
    def choices(self) -> tuple[tuple[str, ...], ...]:
        return tuple(row for domain in self.domains.values() for row in domain.choices)

    def offered(self, domain: str) -> tuple[Tool, ...]:
        """The tools of a domain in the order in which they are offered, base tools first."""
        return self.base_tools + self.domain(domain).tools

    def tool(self, name: str) -> Tool | None:
        """The environment tool of that name, or None. Session tools are not environment tools."""
        return self._by_name.get(name)

    @cached_property
    def _by_name(self) -> Mapping[str, Tool]:
        domain_tools = (tool for domain in self.domains.values() for tool in domain.tools)
        return {tool.name: tool for tool in (*self.base_tools, *domain_tools)}

    def session_tool(self, name: str) -> Tool:
        return next(t for t in self.session_tools if t.name == name)


def names_object(name: str) -> bool:
    """Whether a parameter or a field of that name holds the id of an object, or a list of ids."""
    return name.endswith(("_id", "_ids"))


@cache
def load_ontology() -> Ontology:
    """The ontology that ships with the package."""
    text = files("atr_ontology").joinpath("tools.yaml").read_text(encoding="utf-8")
    raw = cast(dict[str, Any], yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    return Ontology(
        version=raw["version"],
        domains={name: _domain(name, value) for name, value in raw["domains"].items()},
        base_tools=_tools(raw["base"]),
        session_tools=_tools(raw["session"]),
    )


def _domain(name: str, raw: dict[str, Any]) -> Domain:
    rivals = tuple(tuple(row) for row in raw["rivals"])
    chosen = tuple(tuple(row) for row in raw.get("choices", ()))
    replaced = {tool for row in chosen for tool in row}
    return Domain(
        name,
        raw["description"],
        raw["policy"].strip(),
        _tools(raw),
        objects={kind: _object(kind, fields) for kind, fields in raw["objects"].items()},
        rivals=rivals,
        choices=(*(row for row in rivals if replaced.isdisjoint(row)), *chosen),
    )


def _object(name: str, raw: dict[str, Any]) -> ObjectType:
    fields = dict(raw)
    parameters = tuple(fields.pop("parameters"))
    searches = {tool: tuple(told) for tool, told in fields.pop("searches").items()}
    return ObjectType(name, parameters=parameters, searches=searches, **fields)


def _tools(group: dict[str, Any]) -> tuple[Tool, ...]:
    return tuple(_tool(raw) for raw in group["tools"])


def _tool(raw: dict[str, Any]) -> Tool:
    fields = dict(raw)
    guard = fields.pop("guard", None)
    parameters = tuple(_parameter(p) for p in fields.pop("parameters"))
    return Tool(**fields, parameters=parameters, guard=_guard(guard) if guard else None)


def _parameter(raw: dict[str, Any]) -> Parameter:
    fields = dict(raw)
    return Parameter(enum=tuple(fields.pop("enum", ())), **fields)


def _guard(raw: dict[str, list[str]]) -> Guard:
    ((kind, names),) = raw.items()
    return Guard(cast(Literal["exactly_one_of", "at_least_one_of"], kind), tuple(names))
