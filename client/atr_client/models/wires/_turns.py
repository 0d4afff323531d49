"""User and assistant by turns, for the APIs that refuse any other order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from atr_data.trajectory import Message

CONTINUE = "Continue."
"""What the user says where the assistant speaks unasked: these APIs want the user's word first, and models
that take no prefill refuse a conversation that ends with their own."""


Role = Literal["user", "assistant"]


@dataclass(slots=True)
class Turn:
    """One turn: what its messages became, in the provider's form."""

    role: Role
    pieces: list[dict[str, Any]]


def alternating(messages: Sequence[Message], render: Callable[[Message], list[dict[str, Any]]]) -> list[Turn]:
    """The turns of a conversation, its system message left out. Results of tools and what the user says after
    them make one turn; a message that renders to nothing is left out.

    The user says CONTINUE before a turn of the assistant that follows none of the user's, and after a last
    one. So the words that a reply answered stand before it in every later request too.
    """
    turns: list[Turn] = []
    go_on = Message(role="user", content=CONTINUE)
    last: Role = "assistant"
    for message in messages:
        pieces = render(message)
        if not pieces:
            continue
        role: Role = "assistant" if message.role == "assistant" else "user"
        if role == last == "assistant":
            turns.append(Turn("user", render(go_on)))
        if role == last == "user":
            turns[-1].pieces += pieces
        else:
            turns.append(Turn(role, pieces))
        last = role
    if last == "assistant":
        turns.append(Turn("user", render(go_on)))
    return turns
