"""Loopback stand-ins for the providers of agents: each request gets the next turn of whoever plays the model.

A turn follows from the request alone, so a repeated request gets the same answer. Requests without the tools
of the server (titles, routing, checks) get a short text.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from atr_client.models.base import ToolSpec
from atr_data.trajectory import Message
from tests.clients.provider_formats import Event, Format


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model makes: the tool's own name, as the server lists it; `own`: it is no tool of the
    server's but of the client's."""

    tool: str
    arguments: dict[str, Any]
    own: bool = False


Turn = Sequence[Call]

Brain = Callable[[list[Message], list[ToolSpec]], Turn]
"""Plays the model: from the conversation so far and the server's tools, the calls that it makes at once; none
when it has nothing more to do."""


def scripted(script: Sequence[Turn]) -> Brain:
    """One turn after the other. Which one is due follows from the number of results."""

    def turn(conversation: list[Message], tools: list[ToolSpec]) -> Turn:
        answered = len(results(conversation))
        for calls in script:
            if answered <= 0:
                return calls
            answered -= len(calls)
        return ()

    return turn


def results(conversation: Sequence[Message]) -> list[str]:
    return [str(message.content) for message in conversation if message.role == "tool"]


class MockProvider:
    """Serves one format on a free port of loopback. After its last turn the model says `done`.

    `results` are what the tools answered, as of the latest request that had the server's tools; `offered` are
    those tools by their own names; `requests` is everything that was sent: path and body. `server` is what
    the client puts before the names of tools, empty where it puts nothing. `fails_after` so many requests it
    says that there is no credit left.
    """

    def __init__(
        self, form: Format, brain: Brain, *, server: str = "atr", fails_after: int | None = None
    ) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.results: list[str] = []
        self.offered: list[str] = []
        self._form, self._brain, self._server, self._fails_after = form, brain, server, fails_after
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> MockProvider:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _said(self, body: dict[str, Any]) -> tuple[str | None, list[tuple[str, Any, dict[str, Any]]]]:
        """Text and calls of the model's turn."""
        offered = self._form.offered(body, self._server)
        if not offered:
            return "ok", []
        conversation = self._form.conversation(body, self._server)
        self.offered, self.results = [o.spec.name for o in offered], results(conversation)
        turn = self._brain(conversation, [o.spec for o in offered])
        names = {o.spec.name: o.called for o in offered}
        made = len([m for m in conversation if m.role == "assistant"])
        called = [self._form.own(c.tool) if c.own else names[c.tool] for c in turn]
        calls = [(f"call_{made}_{i}", called[i], c.arguments) for i, c in enumerate(turn)]
        return (None, calls) if calls else ("done", [])

    def _answer(self, path: str, body: dict[str, Any]) -> tuple[str, str]:
        """Content type and text."""
        said = self._said(body)
        if "stream" in path.lower() or body.get("stream"):
            return "text/event-stream", "".join(map(_sse, self._form.reply(*said)))
        return "application/json", json.dumps(self._form.whole(*said))

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
                path = self.path.lower().partition("?")[0]
                if not path.endswith(("/messages", "/responses", "/completions", "generatecontent")):
                    return self._send("application/json", "{}", 404)
                if outer._fails_after is not None and len(outer.requests) > outer._fails_after:
                    error = {"type": "invalid_request_error", "code": 400, "message": "no credit left"}
                    return self._send("application/json", json.dumps({"error": error}), 400)
                return self._send(*outer._answer(self.path, body))

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


def _sse(event: Event) -> str:
    name, data = event
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"
