"""Loopback stand-ins for the providers of three command-line agents, playing a script of tool calls.

A script is a list of turns, each the calls that the model makes at once; after the last turn it says `done`.
Which turn is due follows from the number of tool results in the request, so a repeated request gets the same
answer. Requests without the tools of the server (titles, routing, checks) get a short text. Three wire
formats: Anthropic Messages, OpenAI Responses and Gemini, each as a stream of server-sent events.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

Event = tuple[str | None, dict[str, Any]]
"""Name of a server-sent event, if the format names them, and its data."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the script: the tool's own name, as the server lists it."""

    tool: str
    arguments: dict[str, Any]


Turn = Sequence[Call]


class Format(Protocol):
    """One wire format. `offered` maps the tool's own name to what this client calls it."""

    def offered(self, body: dict[str, Any], server: str) -> dict[str, Any]: ...

    def results(self, body: dict[str, Any]) -> list[str]: ...

    def reply(
        self, text: str | None, calls: Sequence[tuple[str, Any, dict[str, Any]]]
    ) -> Iterator[Event]: ...


class AnthropicFormat:
    def offered(self, body: dict[str, Any], server: str) -> dict[str, Any]:
        start = f"mcp__{server}__"
        names = (tool["name"] for tool in body.get("tools", ()))
        return {name.removeprefix(start): name for name in names if name.startswith(start)}

    def results(self, body: dict[str, Any]) -> list[str]:
        blocks = (b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"])
        return [_flat(block["content"]) for block in blocks if block["type"] == "tool_result"]

    def reply(self, text: str | None, calls: Sequence[tuple[str, Any, dict[str, Any]]]) -> Iterator[Event]:
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


class ResponsesFormat:
    def offered(self, body: dict[str, Any], server: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for tool in body.get("tools", ()):
            if tool["type"] == "namespace" and tool["name"].rstrip("_") == f"mcp__{server}":
                found |= {
                    inner["name"]: {"namespace": tool["name"], "name": inner["name"]}
                    for inner in tool["tools"]
                }
            elif str(tool.get("name", "")).startswith(f"mcp__{server}__"):
                found[tool["name"].removeprefix(f"mcp__{server}__")] = {"name": tool["name"]}
        return found

    def results(self, body: dict[str, Any]) -> list[str]:
        return [_flat(item["output"]) for item in body["input"] if item["type"] == "function_call_output"]

    def reply(self, text: str | None, calls: Sequence[tuple[str, Any, dict[str, Any]]]) -> Iterator[Event]:
        items: list[dict[str, Any]] = [
            {
                "type": "function_call",
                "id": f"fc_{call_id}",
                "call_id": call_id,
                **name,
                "arguments": json.dumps(arguments),
            }
            for call_id, name, arguments in calls
        ]
        if text is not None:
            content = [{"type": "output_text", "text": text, "annotations": []}]
            items.append({"type": "message", "id": "msg_1", "role": "assistant", "content": content})
        yield _typed("response.created", response={"id": "resp_1"})
        for index, item in enumerate(items):
            yield _typed("response.output_item.added", output_index=index, item=item)
            yield _typed("response.output_item.done", output_index=index, item=item)
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        yield _typed(
            "response.completed",
            response={"id": "resp_1", "status": "completed", "output": items, "usage": usage},
        )


class GeminiFormat:
    def offered(self, body: dict[str, Any], server: str) -> dict[str, Any]:
        start = f"mcp_{server}_"
        names = [d["name"] for tool in body.get("tools", ()) for d in tool.get("functionDeclarations", ())]
        return {name.removeprefix(start): name for name in names if name.startswith(start)}

    def results(self, body: dict[str, Any]) -> list[str]:
        parts = (part for content in body["contents"] for part in content["parts"])
        return [
            json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part
        ]

    def reply(self, text: str | None, calls: Sequence[tuple[str, Any, dict[str, Any]]]) -> Iterator[Event]:
        parts: list[dict[str, Any]] = [] if text is None else [{"text": text}]
        parts += [{"functionCall": {"id": i, "name": name, "args": args}} for i, name, args in calls]
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        yield None, {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"}


class MockProvider:
    """Serves one format on a free port of loopback.

    `results` are what the tools answered, as of the latest request that had the server's tools; `offered` are
    those tools by their own names; `requests` is everything that was sent: path and body.
    """

    def __init__(self, form: Format, script: Sequence[Turn], *, server: str = "atr") -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.results: list[str] = []
        self.offered: list[str] = []
        self._form, self._script, self._name = form, script, server
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> MockProvider:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _events(self, body: dict[str, Any]) -> list[Event]:
        names = self._form.offered(body, self._name)
        if not names:
            return list(self._form.reply("ok", ()))
        self.offered, self.results = list(names), self._form.results(body)
        answered = len(self.results)
        for number, turn in enumerate(self._script):
            if answered <= 0:
                calls = [(f"call_{number}_{i}", names[c.tool], c.arguments) for i, c in enumerate(turn)]
                return list(self._form.reply(None, calls))
            answered -= len(turn)
        return list(self._form.reply("done", ()))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers.get("content-length") or 0))
                try:
                    body = json.loads(sent)
                except ValueError:
                    body = {}
                outer.requests.append((self.path, body))
                streams = "stream" in self.path.lower() or (isinstance(body, dict) and body.get("stream"))
                if streams:
                    self._send("text/event-stream", "".join(map(_sse, outer._events(body))))
                elif "generateContent" in self.path:
                    ((_, answer),) = outer._events(body)
                    self._send("application/json", json.dumps(answer))
                else:
                    self._send("application/json", "{}", 404)

            def do_GET(self) -> None:
                outer.requests.append((self.path, {}))
                self._send("application/json", "{}", 404)

            def _send(self, kind: str, text: str, status: int = 200) -> None:
                content = text.encode()
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _typed(kind: str, **data: Any) -> Event:
    return kind, {"type": kind, **data}


def _sse(event: Event) -> str:
    name, data = event
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def _flat(content: Any) -> str:
    """The text of a tool result, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content)
