"""What a provider wants between the messages of a conversation, whatever its wire format."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from atr_client.models.catalogue import ProviderEntry
from atr_client.models.wires._turns import CONTINUE
from atr_data.trajectory import Message

BRIDGE = "Noted."
"""What the assistant says between a tool's result and the user, where a server wants a word of its own."""


def in_dialect(messages: Sequence[Message], entry: ProviderEntry) -> Sequence[Message]:
    """The messages as a provider's servers take them: see ProviderEntry."""
    if entry.user_after_tool == "bridged":
        messages = _bridged(messages)
    return _prompted(messages) if entry.prompts_after_text else messages


def _bridged(messages: Sequence[Message]) -> list[Message]:
    bridged: list[Message] = []
    for message, following in zip_longest(messages, messages[1:]):
        bridged.append(message)
        if message.role == "tool" and following is not None and following.role == "user":
            bridged.append(Message(role="assistant", content=BRIDGE))
    return bridged


def _prompted(messages: Sequence[Message]) -> list[Message]:
    """The messages, with the user's word after each text of the assistant that nobody answers."""
    prompted: list[Message] = []
    for message, following in zip_longest(messages, messages[1:]):
        prompted.append(message)
        unanswered = following is None or following.role == "assistant"
        if unanswered and message.role == "assistant" and not message.tool_calls:
            prompted.append(Message(role="user", content=CONTINUE))
    return prompted
