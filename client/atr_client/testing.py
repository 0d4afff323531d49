"""Models for the tests of people who build on this library."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable

from atr_client.errors import ModelError
from atr_client.models.base import ModelReply, ToolSpec
from atr_data.trajectory import Message, ToolCall

Responder = Callable[[Sequence[Message], Sequence[ToolSpec]], ModelReply | Awaitable[ModelReply]]


@dataclass(frozen=True, slots=True)
class FunctionModel:
    """An agent made of a function, plain or async, from transcript and tools to a reply."""

    function: Responder

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        reply = self.function(messages, tools)
        return await reply if isawaitable(reply) else reply


@dataclass(slots=True)
class ScriptedModel:
    """An agent that gives its replies in order, and keeps what it was shown in `seen`.

    A script entry is a reply, an exception to raise, a text, or tool calls as `(name, arguments)` pairs.
    Raises ModelError when the script is used up.
    """

    script: Iterable[ModelReply | Exception | str | Sequence[tuple[str, dict[str, object]]]]
    seen: list[list[Message]] = field(default_factory=list[list[Message]])

    def __post_init__(self) -> None:
        self.script = iter(list(self.script))

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        self.seen.append(list(messages))
        try:
            entry = next(iter(self.script))
        except StopIteration:
            raise ModelError(f"the script ended after {len(self.seen) - 1} replies") from None
        if isinstance(entry, Exception):
            raise entry
        if isinstance(entry, ModelReply):
            return entry
        if isinstance(entry, str):
            return ModelReply(entry)
        turn = len(self.seen)
        calls = [
            ToolCall(id=f"call_{turn}_{n}", name=name, arguments=arguments)
            for n, (name, arguments) in enumerate(entry)
        ]
        return ModelReply(tool_calls=calls)
