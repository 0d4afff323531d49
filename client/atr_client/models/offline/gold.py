"""Two reference agents: `gold`, which is shown the answers, and `noop`, which does nothing.

`gold` proves that every session can be played to its end and every test passed; it is no contestant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from atr_client.models.base import ModelReply, ToolSpec
from atr_client.models.offline.reading import View
from atr_data.constants import FINISH_SESSION, SEND_TO_USER
from atr_data.episode import Episode, GoldStep, LearningSession, Reference, RequiredAction, TestSession
from atr_data.reference_types import REFERENCE_TYPES
from atr_data.trajectory import Message, ToolCall
from atr_ontology import Parameter, load_ontology

_RESULT = re.compile(r"^<result (\d+)\.(\w+)>$")
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


@dataclass(frozen=True, slots=True)
class GoldModel:
    def for_session(self, episode: Episode, session: LearningSession | TestSession) -> GoldAgent:
        if isinstance(session, LearningSession):
            return GoldAgent(tuple(session.gold_trajectory))
        required = session.labels.task_success.required_actions
        return GoldAgent(tuple(_step(session, action) for action in required))


@dataclass(frozen=True, slots=True)
class GoldAgent:
    """Makes the calls one by one, then takes its leave."""

    steps: tuple[GoldStep, ...]

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        view = View(messages, tools)
        if len(view.done) < len(self.steps):
            step = self.steps[len(view.done)]
            return _reply(view, step.tool, _resolved(step.arguments, view))
        if not view.is_learning:
            return _reply(view, FINISH_SESSION, {})
        text = "Thank you. Goodbye!" if view.sent else "All of that is done. Is there anything else?"
        return _reply(view, SEND_TO_USER, {"output": text, "reason": "closing the task"})


@dataclass(frozen=True, slots=True)
class Noop:
    """Says goodbye, finishes, does nothing."""

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        view = View(messages, tools)
        if view.is_learning:
            text = "I am sorry, I cannot do this. Goodbye!"
            return _reply(view, SEND_TO_USER, {"output": text, "reason": "declining the task"})
        return _reply(view, FINISH_SESSION, {})


def _step(session: TestSession, action: RequiredAction) -> GoldStep:
    arguments = complete_arguments(session, action.tool, action.arguments)
    return GoldStep(tool=action.tool, arguments=arguments)


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
        return ids[:1] if parameter.type == "array[string]" else ids[0]
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
    found: list[str] = []
    for reference in references:
        kind = REFERENCE_TYPES.get(domain, {}).get(reference.type)
        if kind and parameter in kind.parameters:
            found.append(reference.id)
        elif kind and kind.link and parameter in kind.link_parameters and reference.attributes.get(kind.link):
            found.append(str(reference.attributes[kind.link]))
    return found


def _resolved(value: Any, view: View) -> Any:
    """Replaces `<result N.field>` by what step N returned."""
    if isinstance(value, dict):
        return {key: _resolved(item, view) for key, item in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_resolved(item, view) for item in cast(list[Any], value)]
    if isinstance(value, str) and (match := _RESULT.match(value)):
        result = view.done[int(match[1]) - 1].result
        return cast(dict[str, Any], result)[match[2]] if isinstance(result, dict) else value
    return value


def _reply(view: View, tool: str, arguments: dict[str, Any]) -> ModelReply:
    call = ToolCall(id=f"call_{len(view.messages)}", name=tool, arguments=arguments)
    return ModelReply(tool_calls=[call])
