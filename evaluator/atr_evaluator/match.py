"""Whether the calls of one session contain a required action.

Only calls count: what the environment answered, what was undone later and how the session ended do not. The
first batch that holds a call of the required tool decides, and all its calls of that tool must match.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from atr_data.episode import RequiredAction
from atr_ontology import load_ontology, safe_parameters

Mismatches = dict[str, list[Any]]
"""Argument name -> [gold value, actual value], both as they were written."""


class Call(NamedTuple):
    """`accepted` tells whether the environment carried the call out, None when no answer is on record."""

    id: str
    name: str
    arguments: dict[str, Any]
    accepted: bool | None = None


Batch = Sequence[Call]
"""The calls of one assistant message."""


@dataclass(frozen=True, slots=True)
class ActionMatch:
    """`call` is the first call of the required tool, matching or not. `mismatches` are those of the first
    call that fails. `corrected_later` marks a failed first batch that a later one puts right; it is told
    and never scored."""

    call: Call | None = None
    mismatches: Mismatches = field(default_factory=dict[str, list[Any]])
    corrected_later: bool = False

    @property
    def passed(self) -> bool:
        return self.call is not None and not self.mismatches


def match_action(required: RequiredAction, batches: Sequence[Batch]) -> ActionMatch:
    """Looks for `required` in the batches of one session, in the order in which they were sent."""
    tool = required.tool
    attempts = [named for batch in batches if (named := [call for call in batch if call.name == tool])]
    if not attempts:
        return ActionMatch()
    mismatches = _first_mismatches(required, attempts[0])
    later = bool(mismatches) and not all(_first_mismatches(required, calls) for calls in attempts[1:])
    return ActionMatch(call=attempts[0][0], mismatches=mismatches, corrected_later=later)


def first_call(tool: str, batches: Sequence[Batch]) -> Call | None:
    """The first call of a tool, which is that of `match_action`."""
    return next((call for batch in batches for call in batch if call.name == tool), None)


def _first_mismatches(required: RequiredAction, calls: Batch) -> Mismatches:
    for call in calls:
        if mismatches := compare_arguments(required, call.arguments):
            return mismatches
    return {}


def compare_arguments(required: RequiredAction, arguments: dict[str, Any]) -> Mismatches:
    """The compared arguments that differ from the gold; an absent one counts as null.

    `compare_args` null or empty compares nothing.
    """
    return compare_values(required.arguments, required.compare_args or (), arguments)


def compare_values(golds: Mapping[str, Any], keys: Iterable[str], arguments: Mapping[str, Any]) -> Mismatches:
    """The arguments among `keys` that differ from the gold; an absent one counts as null."""
    target_tool = golds.get("target_tool")
    mismatches: Mismatches = {}
    for key in keys:
        gold, actual = golds.get(key), arguments.get(key)
        if not _same(key, gold, actual, target_tool):
            mismatches[key] = [gold, actual]
    return mismatches


def _same(key: str, gold: Any, actual: Any, target_tool: Any) -> bool:
    if key == "target_params" and target_tool:
        return _same_target(gold, actual, target_tool)
    if isinstance(gold, list):
        return isinstance(actual, list) and _texts(cast(list[Any], gold)) == _texts(cast(list[Any], actual))
    return gold == actual


def _texts(items: list[Any]) -> set[str]:
    return {str(item) for item in items}


def _same_target(gold: Any, actual: Any, target_tool: Any) -> bool:
    """Compares the call that a confirmation announces, by the parameters whose values are exact.

    Numbers, dates and free text are left out, as is anything that only `actual` holds. A tool that does not
    exist has no such parameters, so any object passes.
    """
    gold, actual = object_of(gold), object_of(actual)
    if not (isinstance(gold, dict) and isinstance(actual, dict)):
        return gold == actual
    wanted, got = cast(dict[str, Any], gold), cast(dict[str, Any], actual)
    tool = load_ontology().tool(target_tool) if isinstance(target_tool, str) else None
    safe = safe_parameters(tool) if tool else frozenset[str]()
    return all(key in got and got[key] == value for key, value in wanted.items() if key in safe)


def object_of(value: Any) -> Any:
    """Some models write an object argument as JSON text; text that is no JSON object stays text."""
    if not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return cast(Any, parsed) if isinstance(parsed, dict) else value
