"""Two unprivileged agents: `asker`, which asks, remembers and applies, and `naive`, which does none of it.

Both see what a model would see and keep nothing between calls: every reply is worked out anew from the
transcript. They look objects up, choose by shared words, and act.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atr_client.models.base import ModelReply, ToolSpec
from atr_client.models.offline.asking import Topic, next_topic
from atr_client.models.offline.choosing import best_statement, best_tool
from atr_client.models.offline.filling import action_arguments, search_arguments
from atr_client.models.offline.reading import View, required
from atr_client.prompting import prompt
from atr_data.constants import CONFIRMATION, FINISH_SESSION, SEND_TO_USER
from atr_data.trajectory import Message, ToolCall

TRIES = 3
"""How many times an action is tried with other objects."""
ROUNDS = 6
"""How many messages the user gets before the agent takes its leave."""
LOOKING = ("search_", "list_", "review_")
CHECK_FIRST = re.compile(
    r"\b(?:check|confirm|run it (?:by|past)|clear it|ask)\b.{0,24}\b(?:me|with me|first|before)\b"
    r"|\b(?:my|your) (?:ok|okay|go-ahead|approval|say-so)\b|\bbefore you\b|\bwait for my\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Asker:
    """`remembers`: applies what earlier conversations hold, and asks as its prompt says."""

    remembers: bool = True

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        view = View(messages, tools)
        return self._learn(view) if view.is_learning else self._test(view)

    # Test sessions: look, perhaps confirm, act, finish.

    def _test(self, view: View) -> ModelReply:
        if not view.done:
            return _look(view)
        statement = self._statement(view)
        failed = len([done for done in view.writes if done.is_error])
        if len(view.writes) > failed or failed == TRIES:
            return _reply(view, FINISH_SESSION, {})
        tool = best_tool(view.tools, view.request, statement, view.rows)
        if tool is None:
            return _reply(view, FINISH_SESSION, {})
        arguments = action_arguments(tool, view.request, statement, view.rows, skip=failed)
        confirmed = any(done.call.name == CONFIRMATION for done in view.done)
        if CHECK_FIRST.search(statement) and not confirmed:
            return _reply(view, CONFIRMATION, {"target_tool": tool.name, "target_params": arguments})
        return _reply(view, tool.name, arguments)

    def _statement(self, view: View) -> str:
        if not self.remembers:
            return ""
        found = best_statement(view.statements, view.request, view.tools)
        return found.text if found else ""

    # Learning sessions: ask for what is missing, look, act, ask for what lasts, take leave.

    def _learn(self, view: View) -> ModelReply:
        if not view.sent:
            return _say(view, _opening_question(view))
        if len(view.sent) >= ROUNDS:
            return _say(view, "I have done what I could. Thank you, and goodbye.")
        acted = [done for done in view.writes if not done.is_error]
        if not view.done:
            return _look(view)
        if not view.writes and (tool := best_tool(view.tools, view.request, "", view.rows)):
            return _reply(view, tool.name, action_arguments(tool, view.request, "", view.rows))
        if not acted and len(view.writes) < TRIES:
            tool = best_tool(view.tools, view.user_texts[-1], "", view.rows) or view.tools[-1]
            return _reply(
                view, tool.name, action_arguments(tool, view.request, "", view.rows, skip=len(view.writes))
            )
        topic = self._topic(view)
        if topic and topic.question not in "\n".join(view.sent):
            return _say(view, f"That is taken care of. {topic.question}")
        if any("anything else" in text for text in view.sent):
            return _say(view, "Thank you. Goodbye!")
        return _say(view, "That is taken care of. Is there anything else I can do for you?")

    def _topic(self, view: View) -> Topic | None:
        """The question of this conversation, if the prompt gives leave to ask one."""
        must = prompt("variant_always_ask") in view.system
        may = prompt("variant_atr") in view.system
        if not self.remembers or not (must or may):
            return None
        asked = view.system
        near = [done.call.name for done in view.writes]
        topic = next_topic(view.tools, near, asked)
        if topic is None or (may and not topic.tools & set(near)):
            return None
        return topic


def _look(view: View) -> ModelReply:
    """Everything that can be searched or listed, in one turn."""
    calls = [
        _call(view, tool.name, search_arguments(tool, view.request), position)
        for position, tool in enumerate(tool for tool in view.tools if tool.name.startswith(LOOKING))
    ]
    return ModelReply(tool_calls=calls)


def _opening_question(view: View) -> str:
    tool = best_tool(view.tools, view.request, "")
    wanted = [name.replace("_", " ") for name in (required(tool) if tool else ()) if not name.endswith("_id")]
    asking = f" Above all I need: {', '.join(wanted)}." if wanted else ""
    return f"Happy to help. Which details should I go by?{asking}"


def _say(view: View, text: str) -> ModelReply:
    return _reply(view, SEND_TO_USER, {"output": text, "reason": "talking to the user about the task"})


def _reply(view: View, tool: str, arguments: dict[str, object]) -> ModelReply:
    return ModelReply(tool_calls=[_call(view, tool, arguments, 0)])


def _call(view: View, tool: str, arguments: dict[str, object], position: int) -> ToolCall:
    return ToolCall(id=f"call_{len(view.messages)}_{position}", name=tool, arguments=arguments)
