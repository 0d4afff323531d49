"""Two reference agents: `gold`, which is shown the answers, and `noop`, which does nothing.

`gold` proves that every session can be played to its end and every test passed; it is no contestant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from atr_client.agents.reading import View
from atr_client.models.base import ModelReply, Privileged, ToolSpec
from atr_data.constants import FINISH_SESSION, SEND_TO_USER
from atr_data.episode import Episode, GoldStep, LearningSession, RequiredAction, TestSession
from atr_data.required_calls import complete_arguments
from atr_data.trajectory import Message, ToolCall

_RESULT = re.compile(r"^<result (\d+)\.(\w+)>$")


def gold_model() -> Privileged:
    return Privileged(_gold_agent)


def _gold_agent(episode: Episode, session: LearningSession | TestSession) -> GoldAgent:
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
