"""Null models: agents that never learn a rule and guess in a fixed manner. What one of them passes is no
proof of memory, so every score is read against the best of them.

They look objects up, make one call and finish. They take their leave of a learning session at once, and never
read their memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from atr_client.agents.asker import Asker
from atr_client.agents.choosing import best_tool
from atr_client.agents.gold import Noop
from atr_client.agents.reading import Row, View, is_writing, properties, required, row_key
from atr_client.models.base import ModelReply, PerSession, ToolSpec
from atr_data.trajectory import Message, ToolCall
from atr_ontology import names_object


class Policy(Protocol):
    """How a null model guesses. What it is offered is never empty."""

    def tool(self, tools: Sequence[ToolSpec], request: str, rows: Sequence[Row]) -> ToolSpec | None:
        """One of the tools whose required objects were found."""
        ...

    def value(self, tool: str, parameter: str, schema: Mapping[str, Any]) -> str: ...

    def objects(self, tool: str, parameter: str, found: Sequence[Row]) -> Sequence[Row]:
        """At least one; a parameter for one object takes the first."""
        ...


@dataclass(frozen=True, slots=True)
class NullAgent:
    policy: Policy

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        view = View(messages, tools)
        if view.is_learning or view.writes:
            return await Noop().respond(messages, tools)
        naive = Asker(remembers=False)
        usable = [tool for tool in tools if is_writing(tool.name) and _objects_found(tool, view.rows)]
        if not view.done or not usable:
            return await naive.respond(messages, tools)
        chosen = self.policy.tool(usable, view.request, view.rows)
        left = [tool for tool in tools if tool is chosen or not is_writing(tool.name)]
        reply = await naive.respond(messages, left)
        return ModelReply(tool_calls=[self._guessed(call, chosen, view.rows) for call in reply.tool_calls])

    def _guessed(self, call: ToolCall, tool: ToolSpec | None, rows: Sequence[Row]) -> ToolCall:
        """The call of the tool with objects and closed choices put in; any other call as it is."""
        if tool is None or call.name != tool.name:
            return call
        arguments = dict(call.arguments)
        for name, schema in properties(tool).items():
            if "enum" in schema:
                arguments[name] = self.policy.value(tool.name, name, schema)
            elif names_object(name) and (found := holding(rows, name)):
                ids = [row.fields[row_key(name)] for row in self.policy.objects(tool.name, name, found)]
                arguments[name] = ids if schema["type"] == "array" else ids[0]
        return call.model_copy(update={"arguments": arguments})


def holding(rows: Sequence[Row], parameter: str) -> list[Row]:
    """The objects that the parameter can name, in the order in which they were listed."""
    return [row for row in rows if row.fields.get(row_key(parameter))]


def _objects_found(tool: ToolSpec, rows: Sequence[Row]) -> bool:
    return all(holding(rows, name) for name in required(tool) if names_object(name))


@dataclass(frozen=True, slots=True)
class First:
    """The obvious tool, the first object listed, the stock value: the default, else the first one."""

    def tool(self, tools: Sequence[ToolSpec], request: str, rows: Sequence[Row]) -> ToolSpec | None:
        return best_tool(tools, request, "", rows)

    def value(self, tool: str, parameter: str, schema: Mapping[str, Any]) -> str:
        return schema.get("default") or schema["enum"][0]

    def objects(self, tool: str, parameter: str, found: Sequence[Row]) -> Sequence[Row]:
        return found[:1]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The obvious tool, any object, any value. Draws follow from the seed and from what is drawn for."""

    seed: str

    def tool(self, tools: Sequence[ToolSpec], request: str, rows: Sequence[Row]) -> ToolSpec | None:
        return best_tool(tools, request, "", rows)

    def value(self, tool: str, parameter: str, schema: Mapping[str, Any]) -> str:
        return self._random(tool, parameter).choice(schema["enum"])

    def objects(self, tool: str, parameter: str, found: Sequence[Row]) -> Sequence[Row]:
        return [self._random(tool, parameter).choice(found)]

    def _random(self, tool: str, parameter: str) -> Random:
        return Random(f"{self.seed} {tool} {parameter}")


def first_model() -> NullAgent:
    return NullAgent(First())


def random_model() -> PerSession:
    """Draws in each session from that session's own seed."""
    return PerSession(lambda session_id: NullAgent(Drawn(session_id)))
