"""Arguments that are read as text: what the user hears, what history and memory show of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from atr_client.models.base import ModelReply, ToolSpec
from atr_client.session.session_runner import run_session
from atr_client.session.turns import SessionSettings, ToolOutcome
from atr_data.constants import USER_END
from atr_data.episode import Episode
from atr_data.trajectory import Message, ToolCall
from atr_memory import render_transcript
from atr_user_sim import UserTurn, render_history
from atr_user_sim.interface import HistoryEntry, SimulatorReply
from tests.support.tiny_episode import episode

EPISODE = Episode.model_validate(episode())
FALSY = [None, 0, 0.0, False, [], {}, "", "  \n"]
SPOKEN = {"x": " x ", "0": "0", "12": 12, "True": True, "['a']": ["a"], "None": "None"}


class Sends:
    """An agent that sends the same arguments once."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._call = ToolCall(id="c", name="send_to_user", arguments=arguments)

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        return ModelReply(tool_calls=[self._call])


class Ear:
    """A user that notes what it hears, and ends the session."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, str]] = []

    async def open(self) -> SimulatorReply:
        return SimulatorReply("Hello.", "continue")

    async def hear(
        self, *, agent_text: str, output: str, reason: str, turn_idx: int, history: Sequence[HistoryEntry]
    ) -> UserTurn:
        self.heard.append((agent_text, output, reason))
        return UserTurn("", True, (), {})


class Nothing:
    """An environment without tools."""

    async def tools(self) -> Sequence[ToolSpec]:
        return []

    async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
        raise AssertionError(call)

    def abandon(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
        raise AssertionError(call)


@pytest.mark.parametrize(
    ("given", "text"), [*((value, "") for value in FALSY), *((value, text) for text, value in SPOKEN.items())]
)
async def test_a_falsy_value_says_nothing_and_any_other_is_said_as_text(given: object, text: str) -> None:
    ear = Ear()
    played = await run_session(
        episode=EPISODE,
        session=EPISODE.learning_sessions[0],
        variant="default",
        model=Sends({"output": given, "reason": given}),
        memory_context=None,
        user=ear,
        environment=Nothing(),
        settings=SessionSettings(),
    )
    assert ear.heard == [(text, text, text)]
    sent = next(event for event in played.interaction_events if event.kind == "send_event")
    assert (sent.output, sent.reason) == (text, text)
    remembered = render_transcript(played.messages).splitlines()
    assert remembered == ["[user]: Hello.", *([f"[assistant to user]: {text}"] if text else [])]
    shown = [entry.content for entry in render_history(played.messages)]
    assert shown == ["Hello.", *([text] if text else []), USER_END]
