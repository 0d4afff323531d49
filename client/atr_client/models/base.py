"""What the turn loop asks of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

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
    `finish` says why the model stopped; anything but `stop` and `tool_calls` is a reply cut short."""

    content: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list[ToolCall])
    usage: Usage | None = None
    reasoning_content: str | None = None
    native_assistant_payload: dict[str, Any] | list[Any] | None = None
    native_payload_format: str | None = None
    finish: Finish = "stop"

    @property
    def is_empty(self) -> bool:
        return not self.tool_calls and not (self.content or "").strip()


class AgentModel(Protocol):
    """The agent under test. It sees the transcript and the tools, and nothing else.

    Raises ModelError when the call failed for good.
    """

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply: ...


@runtime_checkable
class PrivilegedModel(Protocol):
    """A model that is shown the session's labels: a reference to compare with, never a contestant."""

    def for_session(self, episode: Episode, session: LearningSession | TestSession) -> AgentModel: ...
