"""What the turn loop asks of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is offered to a model; the schema comes from the server's `tools/list`."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


Finish = Literal["stop", "tool_calls", "length", "refusal", "content_filter"]


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply. Native payload and format are stored with the message and sent back on the next turn.
    `finish` says why the model stopped; anything but `stop` and `tool_calls` is a reply cut short.
    `served_model` is the name under which the server says it answered."""

    content: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list[ToolCall])
    usage: Usage | None = None
    reasoning_content: str | None = None
    native_assistant_payload: dict[str, Any] | list[Any] | None = None
    native_payload_format: str | None = None
    finish: Finish = "stop"
    served_model: str | None = None

    @property
    def is_empty(self) -> bool:
        return not self.tool_calls and not (self.content or "").strip()


class AgentModel(Protocol):
    """The agent under test. It sees the transcript and the tools, and nothing else.

    Raises ModelError when the call failed for good.
    """

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply: ...


@dataclass(frozen=True, slots=True)
class PerSession:
    """A model that makes an agent of its own for each session, told by its id alone."""

    agent: Callable[[str], AgentModel]


@dataclass(frozen=True, slots=True)
class Privileged:
    """A model that is shown each session with its labels: a reference to compare with, never a contestant."""

    agent: Callable[[Episode, LearningSession | TestSession], AgentModel]


Model = AgentModel | PerSession | Privileged
"""What can be put in the agent's place. A model is privileged, or made anew for each session, because it says
so by its type: a method that happens to have some name gives nobody the labels."""


def agent_for(model: Model, episode: Episode, session: LearningSession | TestSession) -> AgentModel:
    """The agent that plays one session."""
    if isinstance(model, Privileged):
        return model.agent(episode, session)
    return model.agent(session.session_id) if isinstance(model, PerSession) else model
