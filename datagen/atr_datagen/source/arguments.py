"""From what a source says to the value that a tool takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from atr_datagen.source.document import nearest
from atr_datagen.source.predicates import is_number, items, plain
from atr_ontology import Guard, Parameter, Tool

_PLACEHOLDER = re.compile(r"<(result \d+\.\w+|authored from \w+)>")


def is_placeholder(value: Any) -> bool:
    """Whether a value of a trajectory stands for one that is known only when it is run."""
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None


def resolve_references(value: Any, ids: Mapping[str, str]) -> Any:
    """Puts ids in place of `#key`, inside lists too. Raises ValueError for a key that the session lacks."""
    if isinstance(value, list):
        return [resolve_references(item, ids) for item in items(value)]
    if isinstance(value, str) and value.startswith("#"):
        return reference_id(value[1:], ids)
    return value


def reference_id(key: str, ids: Mapping[str, str]) -> str:
    """Raises ValueError that names the nearest key."""
    if key not in ids:
        raise ValueError(f"#{key} is no key of this session; {nearest(key, ids)}")
    return ids[key]


def coerce(parameter: Parameter, value: Any) -> Any:
    """The value in the parameter's JSON type.

    Raises ValueError that says which kind of value the parameter takes.
    """
    name = parameter.name
    if value is None:
        raise ValueError(f"{name} has no value (a # outside quotes starts a comment)")
    if parameter.type == "array[string]":
        if not isinstance(value, list):
            raise ValueError(f"{name} takes a list, [...]; is {value!r}")
        return [plain(item) for item in items(value)]
    if parameter.type == "object":
        if not isinstance(value, dict):
            raise ValueError(f"{name} takes a mapping; is {value!r}")
        return cast(dict[str, Any], value)
    if isinstance(value, list | dict):
        raise ValueError(f"{name} takes one value; is {value!r}")
    if is_placeholder(value):
        return value
    return _scalar(parameter, value)


def _scalar(parameter: Parameter, value: Any) -> Any:
    match parameter.type:
        case "integer" if not is_number(value) or value != int(value):
            raise ValueError(f"{parameter.name} takes a whole number; is {value!r}")
        case "integer":
            return int(value)
        case "number" if not is_number(value):
            raise ValueError(f"{parameter.name} takes a number; is {value!r}")
        case "boolean" if not isinstance(value, bool):
            raise ValueError(f"{parameter.name} takes true or false; is {value!r}")
        case "number" | "boolean":
            return value
        case _:
            text = plain(value)
    if parameter.enum and text not in parameter.enum:
        raise ValueError(f"{parameter.name} has no value {text!r}; one of: {', '.join(parameter.enum)}")
    return text


def check_call(tool: Tool, names: Iterable[str]) -> str | None:
    """What is wrong with the set of arguments of a call, or None."""
    given = set(names)
    missing = [p.name for p in tool.parameters if p.required and p.name not in given]
    if missing:
        return f"{tool.name} lacks {', '.join(missing)}"
    return _guard_problem(tool.name, tool.guard, given) if tool.guard else None


def _guard_problem(tool: str, guard: Guard, given: set[str]) -> str | None:
    count = sum(name in given for name in guard.parameters)
    if count == 0 or (count > 1 and guard.kind == "exactly_one_of"):
        return f"{tool} takes {guard.kind.replace('_', ' ')} {', '.join(guard.parameters)}"
    return None


def unknown_parameter(tool: Tool, name: str) -> str:
    return f"{tool.name} has no parameter {name!r}; {nearest(name, (p.name for p in tool.parameters))}"
