"""The arguments of a call against the ontology: checked once, here, before a handler sees them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from atr_data.limits import check_arguments
from atr_ontology import Parameter, Tool, input_schema
from atr_servers.domains.tables import Refusal, excerpt

if TYPE_CHECKING:
    from jsonschema import ValidationError

_MAX_PROBLEMS = 3
_MAX_WHOLE_FLOAT = 2**53
"""From here on a float that was written with a fraction may look whole."""

_TEXTS = ("string", "enum", "date", "datetime")

_EXPECTED: Mapping[str, str] = {
    "string": "text",
    "date": "text",
    "datetime": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array[string]": "a list of texts",
}


def read_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments for the handler of a tool. A parameter that counts as left out is not among them.

    An explicit null follows the null policy of its parameter, `""` the empty policy. A whole float for an
    integer (`2.0`) becomes one. JSON text of an object passes for the object; the handler gets the text.
    Shape comes before the guard, so that a misspelt name is called that, and not a missing argument.
    Raises Refusal that names each argument at fault, what was expected and what came.
    """
    nulls = {p.name: p.null for p in tool.parameters if not p.required and arguments.get(p.name, "") is None}
    empty = {p.name for p in tool.parameters if p.empty == "omit" and arguments.get(p.name) == ""}
    given = {
        name: value
        for name, value in arguments.items()
        if nulls.get(name, "error") == "error" and name not in empty
    }
    problems = list(islice(_problems(tool, given), _MAX_PROBLEMS))
    if problems:
        raise Refusal("; ".join(problems))
    _check_guard(tool, given)
    for parameter in tool.parameters:
        if parameter.type == "integer" and isinstance(value := given.get(parameter.name), float):
            given[parameter.name] = _whole(parameter, value)
    return given | {name: None for name, policy in nulls.items() if policy == "echo"}


def nearest(name: str, names: Iterable[str]) -> str:
    """A question after the name that was probably meant, to be put at the end of a message, or nothing."""
    close = get_close_matches(name[:64], list(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _problems(tool: Tool, given: Mapping[str, Any]) -> Iterator[str]:
    for name in given:
        if tool.parameter(name) is None:
            yield f"unknown argument {excerpt(name)}{_alternatives(tool, name)}"
    for parameter in tool.parameters:
        if parameter.required and parameter.name not in given:
            yield f"missing argument {parameter.name}: {parameter.description}"
    if all(
        _fits(parameter, given[parameter.name]) for parameter in tool.parameters if parameter.name in given
    ):
        return
    read = {p.name: _object(given[p.name]) for p in tool.parameters if p.type == "object" and p.name in given}
    for error in _validator(tool)({**given, **read}):
        path = list(error.absolute_path)
        said_by_type = error.validator == "enum" and not isinstance(error.instance, str)
        if path and not said_by_type:
            yield _wrong_value(cast(Parameter, tool.parameter(str(path[0]))), path, error.instance)


def _fits(parameter: Parameter, value: object) -> bool:
    """Whether a value is plainly what is expected, so that nobody need look at the schema; it decides of the
    others."""
    if isinstance(value, str):
        return parameter.type in _TEXTS and (not parameter.enum or value in parameter.enum)
    return type(value) is int and parameter.type in ("number", "integer") and not parameter.enum


def _object(value: object) -> object:
    """The object that a JSON text holds; any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        read: object = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return value if check_arguments(read) else read


def _alternatives(tool: Tool, name: str) -> str:
    names = [parameter.name for parameter in tool.parameters]
    return nearest(name, names) or f"; {tool.name} takes {', '.join(names) or 'no arguments'}"


def _wrong_value(parameter: Parameter, path: list[str | int], value: object) -> str:
    place = parameter.name + "".join(f"[{index}]" for index in path[1:])
    if parameter.enum:
        expected = f"one of {', '.join(parameter.enum)}"
    else:
        expected = "text" if path[1:] else _EXPECTED[parameter.type]
    hint = "" if parameter.required or value is not None else "; leave it out when it is not wanted"
    return f"{place}: expected {expected}, got {excerpt(value)}{hint}"


def _whole(parameter: Parameter, value: float) -> int:
    if abs(value) > _MAX_WHOLE_FLOAT:
        raise Refusal(_wrong_value(parameter, [parameter.name], value))
    return int(value)


def _check_guard(tool: Tool, given: Mapping[str, Any]) -> None:
    if tool.guard is None:
        return
    names = tool.guard.parameters
    present = [name for name in names if given.get(name) not in (None, "", [])]
    if tool.guard.kind == "exactly_one_of" and len(present) != 1:
        raise Refusal(f"give exactly one of {', '.join(names)}; got {', '.join(present) or 'none of them'}")
    if tool.guard.kind == "at_least_one_of" and not present:
        raise Refusal(f"give at least one of {', '.join(names)}")


@cache
def _validator(tool: Tool) -> Callable[[Mapping[str, Any]], Iterator[ValidationError]]:
    from jsonschema import Draft202012Validator

    validator: Any = Draft202012Validator(input_schema(tool))
    return validator.iter_errors
