"""The ontology as typed values: domains, tools, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
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


@dataclass(frozen=True, slots=True)
class Guard:
    """A rule over several parameters; "given" means not null, not `""` and not `[]`."""

    kind: Literal["exactly_one_of", "at_least_one_of"]
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `kind` is `read` when a call changes no state; the hints are those of MCP."""

    name: str
    title: str
    kind: Literal["read", "write"]
    description: str
    parameters: tuple[Parameter, ...]
    guard: Guard | None = None
    destructive: bool = False
    idempotent: bool = False

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)


@dataclass(frozen=True, slots=True)
class Domain:
    """A group of tools served together. `policy` tells an agent where ids come from."""

    name: str
    description: str
    policy: str
    tools: tuple[Tool, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ontology:
    """All tools: six domains, the base tools of every domain, and the tools of the turn loop."""

    version: int
    domains: Mapping[str, Domain]
    base_tools: tuple[Tool, ...]
    session_tools: tuple[Tool, ...]

    def domain(self, name: str) -> Domain:
        """Raises KeyError that names the six domains when there is no such domain."""
        if name not in self.domains:
            raise KeyError(f"unknown domain {name!r}; one of: {', '.join(self.domains)}")
        return self.domains[name]

    def offered(self, domain: str) -> tuple[Tool, ...]:
        """The tools of a domain in the order in which they are offered, base tools first."""
        return self.base_tools + self.domain(domain).tools

    def tool(self, name: str) -> Tool | None:
        """The environment tool of that name, or None. Session tools are not environment tools."""
        return _by_name(self).get(name)

    def session_tool(self, name: str) -> Tool:
        return next(t for t in self.session_tools if t.name == name)


@cache
def _by_name(ontology: Ontology) -> dict[str, Tool]:
    domain_tools = (tool for domain in ontology.domains.values() for tool in domain.tools)
    return {tool.name: tool for tool in (*ontology.base_tools, *domain_tools)}


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
    return Domain(name, raw["description"], raw["policy"].strip(), _tools(raw))


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
