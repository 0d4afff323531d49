"""A chooser in the place of a model: it makes the calls that a model would make, and sees the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from atr_client.models.base import ModelReply, ToolSpec
from atr_client.timing.choosers.chooser import Chooser, Seen, User, served_event
from atr_data.timing.decisions import Assist
from atr_data.timing.events import Sitting
from atr_data.trajectory import Message, ToolCall


class ChooserAgent:
    """Plays one sitting. Raises RuntimeError when the server refuses a call, which is a fault of ours."""

    def __init__(self, chooser: Chooser, user: User, sitting: Sitting) -> None:
        self._chooser, self._user, self._sitting = chooser, user, sitting
        self._seen: list[Seen] = []
        self._current: Seen | None = None

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        last = messages[-1]
        if last.role != "tool":
            self._chooser.begin(self._user, self._sitting)
            return _reply(len(messages), "start_sitting", {})
        answer = cast("dict[str, Any]", json.loads(last.content or "{}"))
        if last.tool_error:
            raise RuntimeError(f"{answer.get('code')}: {answer.get('message')}")
        event = self._take(answer)
        return _reply(len(messages), *call_for(event, self._chooser.decide(event, self._seen)))

    def _take(self, answer: Mapping[str, Any]) -> Seen:
        if self._current is not None:
            self._seen.append(self._current)
        self._seen.extend(served_event(fields) for fields in answer["passed"])
        self._current = served_event(answer["current"])
        return self._current


def call_for(event: Seen, offer: Assist | None) -> tuple[str, dict[str, Any]]:
    """Tool and arguments of a decision."""
    if offer is None:
        return "stay_silent", {"event_id": event.event_id}
    known = offer.model_dump(exclude_none=True)
    return "assist", {"event_id": event.event_id, "intent": "uncategorized", **known}


def _reply(turn: int, tool: str, arguments: dict[str, Any]) -> ModelReply:
    return ModelReply(tool_calls=[ToolCall(id=f"call_{turn}", name=tool, arguments=arguments)])
