"""The seam between this project and a provider's SDK: one request in, one reply out, faults sorted.

A module per wire format implements `Wire` and holds the only import of its SDK. Everything that all providers
share (retries, rate limits, prices, recording) stands around it and knows this seam alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from atr_client.models.base import ModelReply, ToolSpec
from atr_data.trajectory import Message

EchoReasoning = Literal["as_sent", "never", "tool_turns", "always"]
ContentParts = Literal["as_sent", "text"]
CallIdForm = Literal["any", "short"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is reached and how it is addressed.

    `base_url` None: the SDK's default. `timeout` in seconds for one HTTP call. `parameters` are added to
    every request as they stand (the reasoning switch lives here). `payload_format` marks replies, and stored
    payloads of that format are sent back as they came, unless `faithful_replay` is off.
    `structured_output`: the provider takes a JSON Schema for the answer.

    The rest are dialects of Chat Completions. `echo_reasoning` says on which assistant turns plain reasoning
    text is sent back as `reasoning_content`; `as_sent`: where it came, under its own name. `content_parts`:
    content that came in parts goes back so, or as `text` alone. `call_ids`: `short` are nine letters or
    digits. `seed_name` is the request's field for the seed.
    """

    model: str
    api_key: str = field(repr=False)
    base_url: str | None = None
    timeout: float = 360.0
    max_output_tokens: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sampling: bool = True
    payload_format: str | None = None
    faithful_replay: bool = True
    structured_output: bool = True
    echo_reasoning: EchoReasoning = "as_sent"
    content_parts: ContentParts = "as_sent"
    call_ids: CallIdForm = "any"
    seed_name: str = "seed"


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One call. The first message is the system message. `schema` asks for JSON of that form. `temperature`
    and `seed` are left out where the endpoint takes no sampling parameters."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    schema: Mapping[str, Any] | None = None
    temperature: float | None = None
    seed: int | None = None


class Wire(Protocol):
    """A client of one endpoint; open until it is closed.

    `send` raises WireError, or ContextOverflow.
    """

    async def send(self, request: WireRequest) -> ModelReply: ...

    async def aclose(self) -> None: ...


RETRYABLE_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

FINAL_STATUS = frozenset({401, 402, 403, 404})
"""The provider refuses key, money or model, and not this one request."""
