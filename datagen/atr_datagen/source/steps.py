"""The steps of a learning session: `tool(argument, argument=value, ...)`.

A bare name copies the fact of that name. A value is `#key` (the id of a reference), `*name` (text to be
authored from a list of points), `<N.field>` (what step N returned), `[...]` (a list of such), a fact's name,
or a literal. Where a parameter is an enum and the word is one of its values, it is that value even if a fact
has the same name; a word in quotes is always a literal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from atr_data.episode import GoldStep
from atr_datagen.source.arguments import (
    check_call,
    coerce,
    reference_id,
    resolve_references,
    unknown_parameter,
)
from atr_datagen.source.document import nearest, scalar
from atr_datagen.source.predicates import items
from atr_ontology import Parameter, Tool

_CALL = re.compile(r"\s*([a-z_][a-z0-9_]*)\s*\((.*)\)\s*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_RESULT = re.compile(r"<(\d+)\.(\w+)>")
_CLOSING = {"]": "[", ">": "<"}


@dataclass(frozen=True, slots=True)
class Step:
    """A parsed step. A value of None means that the argument is copied from the fact of its name."""

    tool: str
    arguments: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class ResolvedStep:
    """`facts` are the names of the facts that the step uses, `keys` those of the references it names."""

    gold: GoldStep
    facts: frozenset[str]
    keys: frozenset[str]


def parse_step(text: str) -> Step:
    """Raises ValueError that shows the form when the text is no step."""
    match = _CALL.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no step; write tool(argument, argument=value)")
    arguments: dict[str, str | None] = {}
    for part in split_top(match[2]):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not _NAME.fullmatch(name) or (equals and not value):
            raise ValueError(f"{part!r} is no argument; write argument or argument=value")
        if name in arguments:
            raise ValueError(f"{name} is given twice")
        arguments[name] = value if equals else None
    return Step(match[1], arguments)


def split_top(text: str) -> list[str]:
    """Splits at the commas that stand outside quotes and brackets.

    A quote opens only where a value starts, so an apostrophe inside a word is a letter.
    """
    parts, start, open_brackets, quote, fresh = list[str](), 0, list[str](), "", True
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"" and fresh:
            quote = char
        elif char == "[" or (char == "<" and fresh):
            open_brackets.append(char)
        elif open_brackets and _CLOSING.get(char) == open_brackets[-1]:
            open_brackets.pop()
        elif char == "," and not open_brackets:
            parts.append(text[start:position])
            start = position + 1
        if not char.isspace():
            fresh = char in "=[,"
    if quote or open_brackets:
        raise ValueError(f"{text!r} leaves {quote or open_brackets[-1]} open")
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def resolve_step(
    step: Step, number: int, tool: Tool, know: Mapping[str, Any], ids: Mapping[str, str]
) -> ResolvedStep:
    """The call a step stands for. `number` counts the steps of the session from 1.

    Raises ValueError for the first argument that is unknown, missing or of the wrong kind.
    """
    reader = _Values(number, know, ids, set(), set())
    arguments: dict[str, Any] = {}
    for name, text in step.arguments.items():
        parameter = tool.parameter(name)
        if parameter is None:
            raise ValueError(unknown_parameter(tool, name))
        value = reader.fact(name) if text is None else reader.value(text, parameter)
        arguments[name] = coerce(parameter, value)
    problem = check_call(tool, arguments)
    if problem:
        raise ValueError(problem)
    return ResolvedStep(
        GoldStep(tool=tool.name, arguments=arguments), frozenset(reader.facts), frozenset(reader.keys)
    )


@dataclass(frozen=True, slots=True)
class _Values:
    number: int
    know: Mapping[str, Any]
    ids: Mapping[str, str]
    facts: set[str]
    keys: set[str]

    def fact(self, name: str) -> Any:
        if name not in self.know:
            raise ValueError(f"{name!r} is no fact under know; {nearest(name, self.know)}")
        self.facts.add(name)
        value = self.know[name]
        self.keys.update(item[1:] for item in _texts(value) if item.startswith("#"))
        return resolve_references(value, self.ids)

    def value(self, text: str, parameter: Parameter) -> Any:
        if text[0] in "'\"" and text[-1] == text[0] and len(text) > 1:
            return text[1:-1]
        if text.startswith("["):
            return [self.value(part, parameter) for part in split_top(text[1:-1])]
        if text.startswith("#"):
            self.keys.add(text[1:])
            return reference_id(text[1:], self.ids)
        if text.startswith("*"):
            return self._authored(text[1:])
        if match := _RESULT.fullmatch(text):
            return self._result(int(match[1]), match[2])
        if text in self.know and text not in parameter.enum:
            return self.fact(text)
        return scalar(text)

    def _authored(self, name: str) -> str:
        if not isinstance(self.fact(name), list):
            raise ValueError(f"*{name} needs a list of points under know")
        return f"<authored from {name}>"

    def _result(self, step: int, field: str) -> str:
        if not 1 <= step < self.number:
            raise ValueError(
                f"<{step}.{field}> must name a step before this one, which is step {self.number}"
            )
        return f"<result {step}.{field}>"


def _texts(value: Any) -> list[str]:
    return [item for item in items(value) if isinstance(item, str)]
