"""A session's transcript while it grows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from atr_client.models.base import ModelReply
from atr_data.trajectory import InteractionEvent, Message, ToolCall
from atr_data.usage import Usage, count_usage


class Transcript:
    """Messages numbered without gaps, events, token usage by role, and how often a reply was faulty."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.events: list[InteractionEvent] = []
        self.usage: dict[str, Usage] = {}
        self.reply_faults: Counter[str] = Counter()

    @property
    def next_index(self) -> int:
        return len(self.messages)

    @property
    def call_ids(self) -> set[str]:
        return {call.id for message in self.messages for call in message.tool_calls or ()}

    def system(self, text: str) -> None:
        self._append(Message(role="system", content=text))

    def user(self, text: str) -> None:
        self._append(Message(role="user", content=text))

    def assistant(self, reply: ModelReply, calls: list[ToolCall] | None) -> int:
        """Returns the index of the message."""
        self._append(
            Message(
                role="assistant",
                content=reply.content,
                tool_calls=calls,
                reasoning_content=reply.reasoning_content,
                native_assistant_payload=reply.native_assistant_payload,
                native_payload_format=reply.native_payload_format,
            )
        )
        return self.next_index - 1

    def tool(self, call: ToolCall, content: str, is_error: bool) -> None:
        self._append(Message(role="tool", content=content, tool_call_id=call.id, tool_error=is_error))

    def take_back(self) -> None:
        """Removes the last message; its index is free again."""
        self.messages.pop()

    def count(self, usage: Mapping[str, Usage]) -> None:
        for role, counted in usage.items():
            count_usage(self.usage, role, counted)

    def note_faults(self, names: Iterable[str]) -> None:
        self.reply_faults.update(names)

    def _append(self, message: Message) -> None:
        message.turn_idx = self.next_index
        self.messages.append(message)
