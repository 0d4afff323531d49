"""The wire formats of three providers, as their clients speak them: what a request holds, how a reply looks.

Anthropic Messages, OpenAI Responses and Gemini. A request is read into our own words: the tools of one MCP
server by their own names, and the conversation as messages.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from atr_client.models.base import ToolSpec
from atr_data.trajectory import Message, ToolCall

Event = tuple[str | None, dict[str, Any]]
"""Name of a server-sent event, if the format names them, and its data."""

Named = tuple[str, Any, dict[str, Any]]
"""A call of a reply: id, what the client calls the tool, arguments."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as the server lists it, and what this client calls it."""

    spec: ToolSpec
    called: Any


class Format(Protocol):
    """One wire format. `whole` is a reply that is not streamed, as one document; `own` is what a reply calls
    a tool of the client's own."""

    def own(self, tool: str) -> Any: ...

    def offered(self, body: dict[str, Any], server: str) -> list[Offered]: ...

    def conversation(self, body: dict[str, Any], server: str) -> list[Message]: ...

    def reply(self, text: str | None, calls: Sequence[Named]) -> Iterator[Event]: ...

    def whole(self, text: str | None, calls: Sequence[Named]) -> dict[str, Any]: ...


class NamesAsTheyAre:
    def own(self, tool: str) -> Any:
        return tool


class AnthropicFormat(NamesAsTheyAre):
    def offered(self, body: dict[str, Any], server: str) -> list[Offered]:
        start = f"mcp__{server}__"
        return [
            Offered(_spec(tool["name"].removeprefix(start), tool, "input_schema"), tool["name"])
            for tool in body.get("tools", ())
            if tool["name"].startswith(start)
        ]

    def conversation(self, body: dict[str, Any], server: str) -> list[Message]:
        found: list[Message] = []
        for message in body["messages"]:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for block in blocks:
                match block["type"]:
                    case "text":
                        found.append(Message(role=message["role"], content=block["text"]))
                    case "tool_use":
                        name = block["name"].removeprefix(f"mcp__{server}__")
                        arguments: Any = block["input"]
                        found.append(_called(block["id"], name, arguments))
                    case "tool_result":
                        failed = bool(block.get("is_error"))
                        found.append(_answered(block["tool_use_id"], flat(block["content"]), failed))
                    case _:
                        pass
        return found

    def reply(self, text: str | None, calls: Sequence[Named]) -> Iterator[Event]:
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "mock",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        yield _typed("message_start", message=message)
        blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
        if text is not None:
            blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": text}))
        for call_id, name, arguments in calls:
            start = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
            blocks.append((start, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}))
        for index, (block, delta) in enumerate(blocks):
            yield _typed("content_block_start", index=index, content_block=block)
            yield _typed("content_block_delta", index=index, delta=delta)
            yield _typed("content_block_stop", index=index)
        reason = "tool_use" if calls else "end_turn"
        yield _typed("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)
        yield _typed("message_stop")

    def whole(self, text: str | None, calls: Sequence[Named]) -> dict[str, Any]:
        raise NotImplementedError("its clients stream")


class ResponsesFormat:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def own(self, tool: str) -> Any:
        return {"name": tool}

    def offered(self, body: dict[str, Any], server: str) -> list[Offered]:
        """Codex puts the tools of a server into a namespace; the SDK's users name them as they are."""
        start = f"mcp__{server}__"
        found: list[Offered] = []
        for tool in body.get("tools", ()):
            if tool["type"] == "namespace" and tool["name"].rstrip("_") == f"mcp__{server}":
                found += [
                    Offered(_spec(t["name"], t, "parameters"), {"namespace": tool["name"], "name": t["name"]})
                    for t in tool["tools"]
                ]
            elif tool["type"] == "function" and (not server or tool["name"].startswith(start)):
                spec = _spec(tool["name"].removeprefix(start), tool, "parameters")
                found.append(Offered(spec, {"name": tool["name"]}))
        return found

    def conversation(self, body: dict[str, Any], server: str) -> list[Message]:
        if isinstance(body["input"], str):
            return [Message(role="user", content=body["input"])]
        found: list[Message] = []
        for item in body["input"]:
            match item.get("type", "message"):
                case "function_call":
                    name = item["name"].removeprefix(f"mcp__{server}__")
                    found.append(_called(item["call_id"], name, json.loads(item["arguments"])))
                case "function_call_output":
                    found.append(_answered(item["call_id"], flat(item["output"])))
                case "message" if item["role"] in ("user", "assistant"):
                    found.append(Message(role=item["role"], content=flat(item["content"])))
                case _:
                    pass
        return found

    def reply(self, text: str | None, calls: Sequence[Named]) -> Iterator[Event]:
        done = self.whole(text, calls)
        yield _typed("response.created", response={**done, "status": "in_progress", "output": []})
        for index, item in enumerate(done["output"]):
            yield _typed("response.output_item.added", output_index=index, item=item)
            yield _typed("response.output_item.done", output_index=index, item=item)
        yield _typed("response.completed", response=done)

    def whole(self, text: str | None, calls: Sequence[Named]) -> dict[str, Any]:
        number = next(self._numbers)
        items: list[dict[str, Any]] = [
            {
                "type": "function_call",
                "id": f"fc_{call_id}",
                "call_id": call_id,
                **name,
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
            for call_id, name, arguments in calls
        ]
        if text is not None:
            content = [{"type": "output_text", "text": text, "annotations": []}]
            items.append(
                {
                    "type": "message",
                    "id": f"msg_{number}",
                    "role": "assistant",
                    "status": "completed",
                    "content": content,
                }
            )
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 0,
            "model": "mock",
            "status": "completed",
            "output": items,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 1,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 1,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 2,
            },
        }


class GeminiFormat(NamesAsTheyAre):
    def offered(self, body: dict[str, Any], server: str) -> list[Offered]:
        start = f"mcp_{server}_"
        declared = (d for tool in body.get("tools", ()) for d in tool.get("functionDeclarations", ()))
        return [
            Offered(_spec(d["name"].removeprefix(start), d, "parametersJsonSchema"), d["name"])
            for d in declared
            if d["name"].startswith(start)
        ]

    def conversation(self, body: dict[str, Any], server: str) -> list[Message]:
        found: list[Message] = []
        for content in body["contents"]:
            role = "assistant" if content["role"] == "model" else "user"
            for part in content["parts"]:
                match part:
                    case {"text": text}:
                        found.append(Message(role=role, content=text))
                    case {"functionCall": call}:
                        name = call["name"].removeprefix(f"mcp_{server}_")
                        found.append(_called(call["id"], name, call.get("args") or {}))
                    case {"functionResponse": told}:
                        response = told["response"]
                        text = response.get("output", response.get("error", json.dumps(response)))
                        found.append(_answered(told["id"], text, "error" in response))
                    case _:
                        pass
        return found

    def reply(self, text: str | None, calls: Sequence[Named]) -> Iterator[Event]:
        yield None, self.whole(text, calls)

    def whole(self, text: str | None, calls: Sequence[Named]) -> dict[str, Any]:
        parts: list[dict[str, Any]] = [] if text is None else [{"text": text}]
        parts += [{"functionCall": {"id": i, "name": name, "args": args}} for i, name, args in calls]
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"}


class ChatFormat(NamesAsTheyAre):
    """Chat Completions, for those who hold the model themselves: own names of tools, nothing streamed."""

    def offered(self, body: dict[str, Any], server: str) -> list[Offered]:
        functions = (tool["function"] for tool in body.get("tools") or ())
        return [Offered(_spec(f["name"], f, "parameters"), f["name"]) for f in functions]

    def conversation(self, body: dict[str, Any], server: str) -> list[Message]:
        found: list[Message] = []
        for message in body["messages"]:
            role, content = message["role"], message.get("content")
            if role == "tool":
                found.append(_answered(message["tool_call_id"], flat(content)))
            elif calls := message.get("tool_calls"):
                functions = [(call["id"], call["function"]) for call in calls]
                made = [
                    ToolCall(id=i, name=f["name"], arguments=json.loads(f["arguments"])) for i, f in functions
                ]
                found.append(Message(role=role, content=content, tool_calls=made))
            else:
                found.append(Message(role=role, content=flat(content)))
        return found

    def reply(self, text: str | None, calls: Sequence[Named]) -> Iterator[Event]:
        raise NotImplementedError("nobody streams")

    def whole(self, text: str | None, calls: Sequence[Named]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {"id": i, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                for i, name, arguments in calls
            ]
        return {
            "id": "chat_1",
            "object": "chat.completion",
            "created": 0,
            "model": "mock",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


def flat(content: Any) -> str:
    """The text of a result, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content)


def _spec(name: str, tool: dict[str, Any], schema: str) -> ToolSpec:
    return ToolSpec(name, tool.get("description") or "", tool.get(schema) or tool.get("parameters") or {})


def _called(call_id: str, name: str, arguments: dict[str, Any]) -> Message:
    return Message(role="assistant", tool_calls=[ToolCall(id=call_id, name=name, arguments=arguments)])


def _answered(call_id: str, text: str, failed: bool = False) -> Message:
    return Message(role="tool", content=text, tool_call_id=call_id, tool_error=failed)


def _typed(kind: str, **data: Any) -> Event:
    return kind, {"type": kind, **data}
