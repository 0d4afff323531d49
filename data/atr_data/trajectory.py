"""The transcript of one session, as a run writes it and the evaluator reads it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from atr_data.limits import check_arguments
from atr_data.usage import Usage


def spoken(value: object) -> str:
    """A value that a model sent where a text was wanted, as stripped text. What is falsy (null, 0, false, an
    empty list or object) says nothing: it is the empty text."""
    return str(value or "").strip()


class ToolCall(BaseModel):
    """A call as the model sent it. `parse_error` tells why arguments could not be used; they are {} then, and
    `raw_arguments` holds their text."""

    model_config = ConfigDict(extra="ignore")

    id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    requestor: Literal["assistant", "user"] = "assistant"
    parse_error: str | None = None
    raw_arguments: str | None = None

    @property
    def sent(self) -> dict[str, Any]:
        """The arguments as a server saw them: what is unfit for the wire was never sent."""
        return {} if check_arguments(self.arguments) else self.arguments

    def text(self, argument: str) -> str:
        """An argument as it is spoken, "" when it was left out."""
        return spoken(self.arguments.get(argument))


class Message(BaseModel):
    """One message. `turn_idx` counts from 0 (system) without gaps."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    tool_error: bool | None = None
    turn_idx: int = 0
    timestamp: str = Field(default_factory=lambda: datetime.now(UTC).isoformat())
    reasoning_content: str | None = None
    native_assistant_payload: dict[str, Any] | list[Any] | None = None
    native_payload_format: str | None = None


EventKind = Literal[
    "send_event",
    "route_decision",
    "cls_verdict",
    "rule_hook_token_missing",
    "off_protocol_ask",
    "hook_appended",
    "stu_mixed_with_tools",
    "stu_duplicate_same_turn",
]


class InteractionEvent(BaseModel):
    """Something worth counting that happened around the assistant message `turn_idx`.

    The last group of fields stands in older files only; a current run leaves them empty.
    """

    model_config = ConfigDict(extra="ignore")

    kind: EventKind
    turn_idx: int
    output: str | None = None
    reason: str | None = None
    was_hook_rescued: bool = False
    route: Literal["rule", "task"] | None = None
    is_strict_rule_question: bool | None = None
    rule_question_span: str | None = None
    rule_id: str | None = None
    cls_status: Literal["hit", "miss", "error"] | None = None
    attempt_idx: int | None = None
    question: str | None = None
    sibling_tool_names: list[str] | None = None
    duplicate_count: int | None = None

    cls_error: bool = False
    router_error: str | None = None
    is_cross_session_ask: bool | None = None
    reason_has_cross_session_rule_intent: bool | None = None
    output_asks_cross_session_rule_question: bool | None = None
    classification: Literal["task_clarification", "cross_session", "chitchat"] | None = None
    sim_reasoning: str | None = None


TerminationReason = Literal[
    "agent_stop",
    "task_complete",
    "task_no_progress",
    "agent_empty_response",
    "max_steps",
    "timeout",
    "context_overflow",
]


class MemoryUse(BaseModel):
    """What the memory cost one session: characters in its prompt, calls of memory tools and the characters
    that they answered, seconds in all, and the bytes that it held when the session began (for a test, that
    the snapshot holds). `discarded_writes` were made in a test session and are gone."""

    model_config = ConfigDict(extra="ignore")

    pushed_characters: int = 0
    tool_calls: int = 0
    returned_characters: int = 0
    seconds: float = 0.0
    stored_bytes: int = 0
    discarded_writes: int = 0


class Retention(BaseModel):
    """Whether the answer of a test's rule is anywhere in the memory (`stored`), and whether a session about
    the rule's topic could bring it up (`findable`); null where that cannot be told. Whether the session did
    is `rule_readable`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    stored: bool | None = None
    findable: bool | None = None


class Readability(BaseModel):
    """How it was decided whether a test session could read its rule: `verbatim` looks for the rule's answer,
    `classifier` is the user's Classifier, which read sentences of a memory that rewords, `told` is an oracle
    that was given it. `memory_sha256` is the digest of the text that was looked at."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    method: str
    memory_sha256: str


class Trajectory(BaseModel):
    """`duration_seconds` in seconds, two decimals. `termination_reason` is a TerminationReason, or one of
    the legacy reasons of an older file. `reply_faults` counts what was wrong with the agent's replies, by
    kind: `unusable_arguments`, `unknown_tool`, `duplicate_call_id`, `empty_reply`, `refusal`, `truncated`,
    `content_filter`. `context_sha256` is the digest of the memory that the session could see (of the empty
    text when there was none). `rule_readable` says of a test session whether the memory that it read held the
    answer of its rule, `readability` how that was decided, `retention` whether it could have; `memory_use` is
    what the memory cost. Files of other programs lack all five."""

    model_config = ConfigDict(extra="ignore")

    session_id: str
    session_type: Literal["learning", "test"]
    agent_variant: str
    messages: list[Message] = Field(default_factory=list[Message])
    termination_reason: str = "agent_stop"
    termination_subreason: str | None = None
    step_count: int = 0
    duration_seconds: float = 0.0
    token_usage: dict[str, Usage] = Field(default_factory=dict)
    memory_snapshot: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    interaction_events: list[InteractionEvent] = Field(default_factory=list[InteractionEvent])
    reply_faults: dict[str, int] = Field(default_factory=dict)
    context_sha256: str | None = None
    rule_readable: bool | None = None
    readability: Readability | None = None
    retention: Retention | None = None
    memory_use: MemoryUse | None = None
