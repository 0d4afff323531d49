"""The seams of the simulated user: three roles, two makes of each, and the turn they make together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from atr_data.trajectory import InteractionEvent, ToolCall
from atr_data.usage import Usage


class UserSimFault(Exception):
    """A role failed for good; the cell in which it happened cannot go on. `module` is `router`, `cls` or
    `user_sim`."""

    def __init__(self, module: Literal["router", "cls", "user_sim"], reason: str) -> None:
        self.module: Literal["router", "cls", "user_sim"] = module
        super().__init__(f"{module}: {reason}")


class CompletionFault(Exception):
    """A model that plays a role could not be reached, or refused, for good."""


@dataclass(frozen=True, slots=True)
class RouterVerdict:
    """Whether a message asks a standing-rule question, and the sentence that asks, verbatim."""

    is_strict_rule_question: bool
    rule_question_span: str | None
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class PoolRule:
    """A rule as the Classifier sees it."""

    rule_id: str
    canonical_answer: str


@dataclass(frozen=True, slots=True)
class ClassifierVerdict:
    """The rule that answers the question, or None."""

    rule_id: str | None
    usage: Usage = Usage()


Intent = Literal["continue", "end"]


@dataclass(frozen=True, slots=True)
class SimulatorReply:
    text: str
    intent: Intent
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A line of the conversation as the simulator sees it; `user` is the user it plays."""

    role: Literal["user", "assistant"]
    content: str


class Router(Protocol):
    """Sees one message of the agent and its stated reason, no history."""

    async def route(self, *, output: str, reason: str) -> RouterVerdict: ...


class Classifier(Protocol):
    """Sees the asking sentence and the pool, nothing else."""

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict: ...


class Simulator(Protocol):
    """Plays the user of one learning session. It never learns of rules.

    `answer_directive` is the transient note that asks for the answer token, when the agent asked a
    standing-rule question; None otherwise.
    """

    async def open(self) -> SimulatorReply: ...

    async def reply(
        self, *, agent_text: str, history: Sequence[HistoryEntry], answer_directive: str | None
    ) -> SimulatorReply: ...


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What came of one user-visible turn of the agent: the user message, whether the session is over,
    the events in order, and the usage by role (`router`, `classifier`, `user_sim`)."""

    message: str
    ended: bool
    events: tuple[InteractionEvent, ...]
    usage: Mapping[str, Usage]


class SimulatedUser(Protocol):
    """The user as the turn loop knows it."""

    async def open(self) -> SimulatorReply: ...

    async def hear(
        self, *, agent_text: str, output: str, reason: str, turn_idx: int, history: Sequence[HistoryEntry]
    ) -> UserTurn: ...


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message for a model that plays a role."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered. `text` is raw; with a schema it should be JSON."""

    text: str | None
    tool_calls: Sequence[ToolCall] = ()
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool that a completion may call."""

    name: str
    description: str
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


class CompletionModel(Protocol):
    """Any model that can play a role. Raises CompletionFault once retries are spent."""

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolOffer] = (),
    ) -> Completion: ...
