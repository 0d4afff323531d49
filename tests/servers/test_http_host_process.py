"""`atr-server serve --http` as a process: what it prints, its token file, its signals."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.tiny_episode import PRODUCTS, serve_command, write_episode


@dataclass(frozen=True, slots=True)
class Running:
    process: subprocess.Popen[str]
    url: str
    token_file: Path
    environment: str

    def stop(self, number: signal.Signals) -> tuple[int, str]:
        """Exit code, and what it printed since it was ready."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out + err


@contextmanager
def running(folder: Path, *arguments: str, **environment: str) -> Generator[Running]:
    episode = write_episode(folder)
    chosen = ("--episode", episode, "--session", "tiny_shop_test")
    command = serve_command("--http", "--port", "0", *chosen, *arguments)
    environ = {**os.environ, **environment}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environ) as process:
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            assert set(ready) == {"url", "token_file", "environments"}
            (opened,) = ready["environments"]
            assert opened["url"] == f"{ready['url']}/env/{opened['id']}/mcp"
            yield Running(process, ready["url"], Path(ready["token_file"]), opened["url"])
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_it_serves_until_a_signal_and_ends_cleanly_under_open_connections(
    tmp_path: Path, number: signal.Signals
) -> None:
    with running(tmp_path) as host:
        token = host.token_file.read_text()
        assert stat.S_IMODE(host.token_file.stat().st_mode) == 0o600
        headers = {"Authorization": f"Bearer {token}"}
        body = {"domain": "commerce", "references": PRODUCTS}
        async with httpx2.AsyncClient(base_url=host.url) as http:
            opened = (await http.post("/admin/env", json=body, headers=headers)).json()
            assert opened["url"].startswith(host.url)
            for url in (opened["url"], host.environment):
                async with Client(url) as client:
                    assert len((await client.list_tools()).tools) >= 4
            legacy = Client(streamable_http_client(host.environment, http_client=http), mode="legacy")
            async with legacy as client:
                await client.list_tools()
                code, printed = host.stop(number)
        assert (code, printed) == (0, "")
        assert not host.token_file.exists()


async def test_beyond_loopback_environments_need_the_token_of_the_named_variable(tmp_path: Path) -> None:
    file = tmp_path / "admin.token"
    file.write_text("an older token")
    arguments = ("--host", "0.0.0.0", "--token-env", "BENCH_TOKEN", "--admin-token-file", str(file))
    with running(tmp_path, *arguments, BENCH_TOKEN="env-secret") as host:
        assert host.token_file == file
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert file.read_text() != "an older token"
        url = host.environment.replace("0.0.0.0", "127.0.0.1")
        async with httpx2.AsyncClient() as http:
            assert (await http.post(url, json={})).status_code == 401
            http.headers["Authorization"] = "Bearer env-secret"
            async with Client(streamable_http_client(url, http_client=http)) as client:
                assert (await client.list_tools()).tools


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--host", "203.0.113.1", "--token-env", "PATH"), "assign requested address"),
        (("--admin-token-file", "/nowhere/at/all/token"), "/nowhere/at/all/token: No such file"),
    ],
)
def test_what_cannot_be_served_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], complaint: str
) -> None:
    _assert_refused(("--port", "0", *arguments), complaint)


def test_a_port_in_use_is_one_line_and_exit_code_2() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        _assert_refused(("--port", str(taken.getsockname()[1])), "already in use")


def _assert_refused(arguments: tuple[str, ...], complaint: str) -> None:
    command = serve_command("--http", *arguments)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.count("\n") == 1
    assert complaint in ended.stderr
