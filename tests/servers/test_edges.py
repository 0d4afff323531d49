"""Edges of the hosts: who may call, how long a request may take, under which id, and for how long to live."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from atr_data.errors import DataError
from atr_servers.cli.app import main
from atr_servers.environment import Environment
from atr_servers.hosts.environment_host import Host
from atr_servers.hosts.environment_spec import Binding
from atr_servers.hosts.http_app import create_app
from atr_servers.hosts.odd_ids import refused_id
from atr_servers.hosts.state_file import StateFile
from tests.support.tiny_episode import PRODUCTS, serve_command, write_episode

PING = {"jsonrpc": "2.0", "method": "ping"}


async def status_of(headers: dict[str, str]) -> int:
    app = create_app(Host(ttl=60, cap=1), admin_token="x", allowed_hosts=["lab.example"])
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as http,
    ):
        return (await http.get("/health", headers=headers)).status_code


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:80", 200),
        ("LOCALHOST:80", 200),
        ("127.0.0.1:8765", 200),
        ("[::1]:8765", 200),
        ("lab.example:1", 200),
        ("localhost:80.evil.com", 421),
        ("localhost:evil.com", 421),
        ("localhost:", 421),
        ("localhost:123456", 421),
        ("localhost:80:80", 421),
        ("localhost.evil.com", 421),
        ("evil.com", 421),
        ("evil.com:80", 421),
        ("localhost:80@evil.com", 421),
        ("", 421),
    ],
)
async def test_a_host_is_a_known_name_with_a_port_or_without(host: str, status: int) -> None:
    assert await status_of({"Host": host}) == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:3000", 200),
        ("https://127.0.0.1", 200),
        ("http://localhost:80.evil.com", 403),
        ("http://evil.com", 403),
        ("ftp://localhost", 403),
        ("null", 403),
        ("localhost", 403),
    ],
)
async def test_an_origin_is_held_to_the_same_rule(origin: str, status: int) -> None:
    assert await status_of({"Origin": origin}) == status


@pytest.mark.parametrize("ttl", ["inf", "nan", "-inf", "0", "-1", "1e300", "31536001", "x"])
def test_a_time_to_live_that_is_none_is_refused(ttl: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["serve", "--http", f"--ttl={ttl}"])
    assert stopped.value.code == 2
    assert "--ttl" in capsys.readouterr().err


@pytest.mark.parametrize("ttl", [math.inf, math.nan, 0.0, -1.0, 1e300])
def test_a_host_refuses_it_too(ttl: float) -> None:
    with pytest.raises(ValueError, match="ttl must be seconds"):
        Host(ttl=ttl, cap=1)


ODD_IDS: list[tuple[Any, Any]] = [
    (1.5, 1.5),
    (2.0, 2.0),
    (-0.5, -0.5),
    (None, None),
    (True, None),
    ([1], None),
]


@pytest.mark.parametrize(("given", "answered"), ODD_IDS)
def test_a_request_under_an_odd_id_is_answered(given: Any, answered: Any) -> None:
    refusal = refused_id(json.dumps({**PING, "id": given}).encode())
    assert refusal is not None
    assert (refusal["id"], refusal["error"]["code"]) == (answered, -32600)


@pytest.mark.parametrize(
    "message",
    [
        {**PING, "id": 1},
        {**PING, "id": "1.5"},
        {**PING, "id": "a,b"},
        PING,
        {"jsonrpc": "2.0", "id": 1.5, "result": {}},
        {**PING, "id": 3, "params": {"id": 1.5}},
    ],
)
def test_other_messages_pass(message: dict[str, Any]) -> None:
    assert refused_id(json.dumps(message).encode()) is None


@pytest.mark.parametrize(
    "text", [b"", b'{"id": 1.5', b'{"id": 1.5, ' + b'"a": [' * 100_000, b'[{"id": 1.5}]']
)
def test_what_is_no_request_is_left_to_others(text: bytes) -> None:
    assert refused_id(text) is None


def test_over_stdio_each_request_gets_its_answer(tmp_path: Path) -> None:
    episode = write_episode(tmp_path)
    command = serve_command("auto", "--episode", episode, "--session", "tiny_shop_test")
    lines = [json.dumps({**PING, "id": given}) for given, _ in ODD_IDS]
    done = subprocess.run(
        command, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=60, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [answered for _, answered in ODD_IDS]


async def test_over_http_too() -> None:
    app = create_app(Host(ttl=60, cap=1), admin_token="x")
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as http,
    ):
        body = {"domain": "commerce", "references": PRODUCTS}
        opened = await http.post("/admin/env", json=body, headers={"Authorization": "Bearer x"})
        answer = await http.post(opened.json()["url"], json={**PING, "id": 1.5})
    assert (answer.status_code, answer.json()["id"]) == (400, 1.5)


SERVER = """
import json

import anyio
from atr_servers.hosts.serve_http import HttpSettings, serve_http
settings = HttpSettings("127.0.0.1", 0, 60.0, 4, request_seconds=0.5)
anyio.run(serve_http, settings, lambda ready: print(json.dumps(ready), flush=True), ())
"""


@pytest.fixture
def http_process() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A host that waits half a second for a request, and its port."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        ready = json.loads(process.stdout.readline())
        port = int(ready["url"].rpartition(":")[2])
        process.token = Path(ready["token_file"])  # type: ignore[attr-defined]
        yield process, port
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"POST /health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\nabc",
    ],
    ids=["nothing", "half the headers", "half the body"],
)
def test_a_half_open_connection_is_closed(
    http_process: tuple[subprocess.Popen[str], int], begun: bytes
) -> None:
    _, port = http_process
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(20)
        connection.sendall(begun)
        received = b""
        while chunk := connection.recv(4096):
            received += chunk
    assert received == b"" or received.startswith(b"HTTP/1.1 408")
    assert httpx2.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == 200


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_request_to_stop_ends_the_host_and_removes_its_token(
    http_process: tuple[subprocess.Popen[str], int], stop: signal.Signals
) -> None:
    process, _ = http_process
    token: Path = process.token  # type: ignore[attr-defined]
    assert token.exists()
    process.send_signal(stop)
    assert process.wait(timeout=20) == 0
    assert not token.exists()


def state_at(path: Path) -> StateFile:
    return StateFile(path, Binding(environment_sha256="0"))


async def kept(path: Path) -> None:
    await state_at(path).open(Environment.build("commerce", PRODUCTS))


async def test_a_state_behind_a_link_is_kept_in_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "state.json"
    link.symlink_to(tmp_path / "there" / "real.json")
    await kept(link)
    assert link.is_symlink()
    assert json.loads((tmp_path / "there" / "real.json").read_text())["binding"]
    assert (tmp_path / "there" / "real.json.lock").exists()
    assert not (tmp_path / "state.json.lock").exists()


@pytest.mark.parametrize("kind", ["no folder", "loop", "dangling", "folder", "pipe", "NUL"])
def test_a_state_that_cannot_be_kept_is_refused_before_anything_is_made(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    match kind:
        case "no folder":
            path = tmp_path / "none" / "state.json"
        case "loop":
            path.symlink_to(path)
        case "dangling":
            path.symlink_to(tmp_path / "none" / "state.json")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case _:
            path = Path("a\0b")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DataError):
        state_at(path)
    assert sorted(tmp_path.iterdir()) == before


def test_the_command_line_refuses_a_missing_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    episode = write_episode(tmp_path)
    state = tmp_path / "none" / "state.json"
    with pytest.raises(SystemExit) as stopped:
        main(["serve", "--episode", str(episode), "--session", "tiny_shop_test", "--state", str(state)])
    assert stopped.value.code == 2
    assert "there is no such folder for the state file" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


async def test_a_body_that_comes_slowly_ends_with_408() -> None:
    app = create_app(Host(ttl=60, cap=1), admin_token="x", body_seconds=0.05)
    sent: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> dict[str, Any]:
        if parts:
            return parts.pop()
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer x")]
    scope = {"type": "http", "method": "POST", "path": "/admin/env", "headers": headers, "query_string": b""}
    started = time.monotonic()
    async with app.router.lifespan_context(app):
        await app(scope, receive, send)
    assert sent[0]["status"] == 408
    assert time.monotonic() - started < 10
