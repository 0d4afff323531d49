"""A foreign agent: an MCP client that keeps its own transcript and lets a model of ours decide."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, TextContent

from atr_client.models.base import AgentModel, ToolSpec
from atr_data.trajectory import Message, ToolCall

MOST_TURNS = 60


@dataclass
class McpPlayer:
    """Plays whatever sessions the server has. `raw` keeps all that the server answered."""

    client: Client
    agent: AgentModel
    raw: list[str] = field(default_factory=list[str])
    sessions: list[str] = field(default_factory=list[str])

    async def play(self, most_sessions: int | None = None) -> None:
        await self.client.list_tools()
        if any(tool.name == "start_episode" for tool in await self.tools()):
            await self.ask("start_episode")
        while most_sessions is None or len(self.sessions) < most_sessions:
            begun = await self.ask("next_session")
            if begun.get("session") is None:
                assert "error" not in begun, begun
                return
            self.sessions.append(begun["session"])
            await self.play_session(begun)

    async def play_session(self, begun: dict[str, Any]) -> None:
        messages = [
            Message(role="system", content=begun["instructions"]),
            Message(role="user", content=begun["user"], turn_idx=1),
        ]
        offered = {tool.name: tool for tool in await self.tools()}
        tools = [offered[name] for name in begun["tools"]]
        for _ in range(MOST_TURNS):
            if await self.take_turn(messages, tools):
                return
        raise AssertionError("the session does not end")

    async def take_turn(self, messages: list[Message], tools: Sequence[ToolSpec]) -> bool:
        """True when the session is over."""
        reply = await self.agent.respond(messages, tools)
        _add(messages, Message(role="assistant", content=reply.content, tool_calls=reply.tool_calls))
        heard: list[str] = []
        over = False
        for call in reply.tool_calls:
            result = await self.call(call)
            texts = [told for text in _texts(result) if (told := _told(text))]
            _add(
                messages,
                Message(
                    role="tool",
                    content=_texts(result)[0],
                    tool_call_id=call.id,
                    tool_error=bool(result.is_error),
                ),
            )
            over = over or any(text.get("session") == "over" for text in texts)
            heard += [text["user"] for text in texts if call.name == "send_to_user" and text.get("user")]
        for text in heard:
            _add(messages, Message(role="user", content=text))
        return over

    async def tools(self) -> list[ToolSpec]:
        listed = (await self.client.list_tools()).tools
        self.raw += [tool.model_dump_json() for tool in listed]
        return [ToolSpec(tool.name, tool.description or "", tool.input_schema) for tool in listed]

    async def call(self, call: ToolCall) -> CallToolResult:
        result = await self.client.call_tool(call.name, call.arguments)
        self.raw += _texts(result)
        return result

    async def ask(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(name, arguments)
        self.raw += _texts(result)
        return json.loads(_texts(result)[0])


def _texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


def _told(text: str) -> dict[str, Any]:
    """What the gateway says; the tools of a third party's memory answer in any form."""
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _add(messages: list[Message], message: Message) -> None:
    message.turn_idx = len(messages)
    messages.append(message)
