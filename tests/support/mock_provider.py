"""Two providers on loopback, each on a port of its own until it is stopped.

`LlmockServer` is the package llmock: ten wire formats and faults, written by others. `CannedServer` answers
with bytes given to it: for what llmock does not say (reasoning, refusals) and what it does not break (a reply
that is no JSON, a connection that drops).
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import uvicorn

STARTUP_SECONDS = 20.0


class LlmockServer:
    """`url` is the root; `/v1`, `/anthropic` and `/gemini` under it are the providers' base addresses."""

    def __init__(self) -> None:
        from llmock.chaos import ChaosSettings
        from llmock.main import create_app
        from llmock.simulation import MockResponseSettings

        app = create_app(ChaosSettings(), MockResponseSettings(tool_mode="off"))
        self._socket = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._admin = httpx2.Client(base_url=f"{self.url}/_llmock", trust_env=False)

    def start(self) -> None:
        self._thread.start()
        deadline = time.monotonic() + STARTUP_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise RuntimeError("llmock did not start")
            time.sleep(0.01)

    def stop(self) -> None:
        self._admin.close()
        self._server.should_exit = True
        self._thread.join(STARTUP_SECONDS)
        self._socket.close()

    def queue(self, *behaviors: dict[str, Any]) -> None:
        """Adds behaviours for coming requests, in the form of llmock's admin interface, for example
        `{"type": "fail", "status": 429, "retry_after": 2}` or `{"type": "reply", "text": "hello"}`."""
        self._admin.post("/scenario", json={"behaviors": behaviors}).raise_for_status()

    def reset(self) -> None:
        """Forgets requests and queued behaviours."""
        self._admin.post("/reset").raise_for_status()

    def requests(self) -> list[dict[str, Any]]:
        """The journal, oldest first: `path`, `body`, `status`, `duration` and more of each request."""
        return self._admin.get("/requests").raise_for_status().json()["requests"]

    def body(self) -> dict[str, Any]:
        """The body of the latest request."""
        return self.requests()[-1]["body"]


Answer = Callable[[BaseHTTPRequestHandler], None]


class CannedServer:
    """Answers POST requests from a queue of `Answer`s, then with `otherwise`, and keeps what it was sent.
    `otherwise` is given the body too."""

    def __init__(self, otherwise: Callable[[dict[str, Any]], Answer] | None = None) -> None:
        self._otherwise = otherwise
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._answers: deque[Answer] = deque()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join(STARTUP_SECONDS)
        self._server.server_close()

    def reset(self) -> None:
        self.bodies.clear()
        self.headers.clear()
        self._answers.clear()

    def queue(self, *answers: Answer) -> None:
        self._answers.extend(answers)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                body = json.loads(sent)
                outer.bodies.append(body)
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                if outer._answers or outer._otherwise is None:
                    outer._answers.popleft()(self)
                else:
                    outer._otherwise(body)(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def answer(body: object, status: int = 200, **headers: str) -> Answer:
    """An answer with a JSON body, or with the bytes given. `retry_after` becomes the header Retry-After."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return send


def drop(sent: bytes = b"") -> Answer:
    """Closes the connection, after a part of an answer when there is one."""

    def close(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(sent)
        handler.close_connection = True

    return close


def trickle(seconds: float) -> Answer:
    """Sends blanks that keep the connection busy, and no answer, for as long as the client stays."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "1000000")
        handler.end_headers()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                handler.wfile.write(b"\n")
            except OSError:
                break
            time.sleep(0.02)
        handler.close_connection = True

    return send
