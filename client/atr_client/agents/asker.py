"""Two unprivileged agents: `asker`, which asks, remembers and applies, and `naive`, which does none of it.

Both see what a model would see and keep nothing between calls: every reply is worked out anew from the
transcript. They look objects up, choose by shared words, and act. `asker` uses the tools of a memory where it
is offered some.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atr_client.agents.asking import asks_in_general
from atr_client.agents.choosing import best_tool, obvious_tool
from atr_client.agents.conversing import Act, Look, Say, next_move
from atr_client.agents.filling import action_arguments, search_arguments
from atr_client.agents.reading import Row, Statement, View
from atr_client.agents.recalling import look_up, note_to_take, rewritten
from atr_client.agents.remembering import Memory
from atr_client.models.base import ModelReply, ToolSpec
from atr_data.constants import CONFIRMATION, FINISH_SESSION, SEND_TO_USER
from atr_data.trajectory import Message, ToolCall

TRIES = 3
"""How many times an action is tried with other objects."""
REASON = "talking to the user about the task"
LOOKING = ("search_", "list_", "review_")


@dataclass(frozen=True, slots=True)
class Asker:
    """`remembers`: applies what earlier conversations hold, and asks as its prompt says."""

    remembers: bool = True

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        view = View(messages, tools)
        if not tools:
            return ModelReply(content=rewritten(view.request) if self.remembers else "")
        if self.remembers and (calls := _with_memory(view)):
            return ModelReply(tool_calls=calls)
        return _learn(view, asks=self.remembers) if view.is_learning else self._test(view)

    def _test(self, view: View) -> ModelReply:
        memory = Memory(_remembered(view) if self.remembers else (), view.request, view.tools)
        if not view.done:
            return _look(view, memory)
        failed = len([done for done in view.writes if done.is_error])
        if len(view.writes) > failed or failed == TRIES:
            return _reply(view, FINISH_SESSION, {})
        tool = _tool(memory, view.rows)
        if tool is None:
            return _reply(view, FINISH_SESSION, {})
        arguments = action_arguments(tool, memory, view.rows, skip=failed)
        confirmed = any(done.call.name == CONFIRMATION for done in view.done)
        if not confirmed and memory.asks_to_confirm(tool):
            return _reply(view, CONFIRMATION, {"target_tool": tool.name, "target_params": arguments})
        return _reply(view, tool.name, arguments)


def _with_memory(view: View) -> list[ToolCall]:
    """What is to be looked up or noted down before anything else, where there are tools for it."""
    if not view.done and not view.sent and (wanted := look_up(view)):
        return [_call(view, tool.name, arguments, n) for n, (tool, arguments) in enumerate(wanted)]
    note = note_to_take(view) if view.is_learning else None
    return [_call(view, note[0].name, note[1], 0)] if note else []


def _learn(view: View, *, asks: bool) -> ModelReply:
    match next_move(view, asks=asks):
        case Say(text):
            return _reply(view, SEND_TO_USER, {"output": text, "reason": REASON})
        case Look():
            return _look(view, Memory((), view.request, view.tools))
        case Act(tool, arguments):
            return _reply(view, tool.name, arguments)


def _look(view: View, memory: Memory) -> ModelReply:
    """Everything that can be searched or listed, in one turn."""
    calls = [
        _call(view, tool.name, search_arguments(tool, memory), position)
        for position, tool in enumerate(tool for tool in view.tools if tool.name.startswith(LOOKING))
    ]
    return ModelReply(tool_calls=calls)


def naive_model() -> Asker:
    return Asker(remembers=False)


def _remembered(view: View) -> list[Statement]:
    """What the user said to stand, or in answer to a question about what holds in general."""
    return [s for s in view.statements if not s.question or asks_in_general(s.question)]


def _tool(memory: Memory, rows: Sequence[Row]) -> ToolSpec | None:
    obvious = obvious_tool(memory.tools, memory.request, rows)
    return obvious and best_tool(memory.tools, memory.request, memory.on_tool(obvious, rows), rows)


def _reply(view: View, tool: str, arguments: dict[str, object]) -> ModelReply:
    return ModelReply(tool_calls=[_call(view, tool, arguments, 0)])


def _call(view: View, tool: str, arguments: dict[str, object], position: int) -> ToolCall:
    return ToolCall(id=f"call_{len(view.messages)}_{position}", name=tool, arguments=arguments)
