"""A learning session as the asker leads it: ask for the details, look, act, ask what comes next until all is
done, ask for what holds in general, take leave."""

from __future__ import annotations

from dataclasses import dataclass

from atr_client.agents.asking import Topic, next_topic
from atr_client.agents.choosing import described_tool, obvious_tool
from atr_client.agents.filling import action_arguments
from atr_client.agents.reading import View
from atr_client.agents.remembering import Memory
from atr_client.models.base import ToolSpec
from atr_client.session.prompting import prompt

DETAILS = "Happy to help. Could you tell me the details?"
NEXT = "I have made a start on it, and I am not sure how to go on."
OFFER = "That is taken care of. Is there anything else I can do for you?"
SORRY = "I am sorry, I am not able to do more about it."
GOODBYE = "Thank you, and goodbye."

ROUNDS = 6
"""How many times the user is asked what comes next."""


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Look:
    """Search and list all that can be."""


@dataclass(frozen=True, slots=True)
class Act:
    tool: ToolSpec
    arguments: dict[str, object]


def next_move(view: View, *, asks: bool) -> Say | Look | Act:
    """What to do at this point of the conversation. `asks`: questions about what holds in general may be put
    when the prompt has a word on them."""
    if not view.sent:
        return Say(DETAILS)
    if not view.done:
        return Look()
    memory = Memory((), view.request, view.tools)
    if view.sent == [DETAILS] and not view.writes:
        tool = obvious_tool(view.tools, view.request, view.rows)
        return _act(tool, memory, view, skip=0) if tool else Say(NEXT)
    if view.sent[-1] == NEXT and not view.done_since_user:
        tool = described_tool(view.tools, view.user_texts[-1])
        if tool and not _is_over(view):
            failed = [done for done in view.done if done.call.name == tool.name and done.is_error]
            return _act(tool, memory, view, skip=len(failed))
        return _close(view, asks=asks)
    if view.done_since_user and view.sent.count(NEXT) < ROUNDS:
        return Say(NEXT)
    return _close(view, asks=asks)


def _act(tool: ToolSpec, memory: Memory, view: View, skip: int) -> Act:
    return Act(tool, action_arguments(tool, memory, view.rows, skip))


def _is_over(view: View) -> bool:
    """The user says so, or thanks."""
    return any(sign in view.user_texts[-1].lower() for sign in ("done already", "thank"))


def _close(view: View, *, asks: bool) -> Say:
    topic = _topic(view) if asks else None
    if topic and not any("That is taken care of. " in text for text in view.sent):
        return Say(f"That is taken care of. {topic.question}")
    for leave in (OFFER, SORRY):
        if leave not in view.sent:
            return Say(leave)
    return Say(GOODBYE)


def _topic(view: View) -> Topic | None:
    """The question of this conversation: when one must be asked any will do, when one may be asked it has to
    be about what was done."""
    must = prompt("variant_always_ask") in view.system
    may = prompt("variant_atr") in view.system
    near = [done.call.name for done in view.writes]
    return next_topic(view.tools, near, view.known, only_near=not must) if must or may else None
