"""One call in a running session: it goes to the turn loop as a reply, and its result comes back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atr_client.gateway.hosted_session import HostedSession
from atr_client.models.base import ModelReply
from atr_data.constants import SEND_TO_USER
from atr_data.trajectory import Message, ToolCall


@dataclass(frozen=True, slots=True)
class Told:
    """An answer: JSON documents, the first of which is that of the tool."""

    texts: Sequence[str]
    is_error: bool = False

    @classmethod
    def of(cls, document: Mapping[str, Any], *, is_error: bool = False) -> Told:
        return cls([json.dumps(document, ensure_ascii=False)], is_error)


def refused(reason: str) -> Told:
    return Told.of({"error": reason}, is_error=True)


@dataclass(frozen=True, slots=True)
class Made:
    """A call that went to the turn loop; `known` is how much of the transcript there was before it."""

    name: str
    known: int


async def act(
    hosted: HostedSession, name: str, arguments: Mapping[str, Any], why_over: Callable[[], str]
) -> Told:
    """`why_over` says why the session is over, and what is to be done next."""
    made = await make(hosted, name, arguments, why_over)
    return made if isinstance(made, Told) else await outcome(hosted, made, why_over)


async def make(
    hosted: HostedSession, name: str, arguments: Mapping[str, Any], why_over: Callable[[], str]
) -> Made | Told:
    """Makes the call. What comes of it is told by `outcome`, even if nobody waited for it at first."""
    asked = await hosted.mailbox.settled()
    if asked is None:
        return refused(f"{name} was not called: {why_over()}")
    known = len(asked.messages)
    call = ToolCall(id=f"call_{known}", name=name, arguments=dict(arguments))
    hosted.mailbox.post(ModelReply(tool_calls=[call]))
    return Made(name, known)


async def outcome(hosted: HostedSession, made: Made, why_over: Callable[[], str]) -> Told:
    await hosted.mailbox.settled()
    new = hosted.came_of(made.known)
    result = next((message for message in reversed(new) if message.role == "tool"), None)
    if result is None:
        return refused(f"{made.name} has no result: {why_over()}")
    over = {"session": "over", "next": why_over()} if hosted.is_over else None
    if made.name == SEND_TO_USER and not hosted.is_test:
        return Told.of({"status": "delivered", "user": None if over else _reply(new)} | (over or {}))
    return Told([str(result.content), *([json.dumps(over)] if over else [])], bool(result.tool_error))


def _reply(new: Sequence[Message]) -> str | None:
    return next((message.content for message in new if message.role == "user"), None)
