"""One environment over stdio, through real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client

from atr_servers.hosts.environment_spec import episode_environment
from tests.support.tiny_episode import GOLD, serve_command, stdio_server, write_episode

ERAS = ("auto", "legacy")
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture
def episode_file(tmp_path: Path) -> Path:
    return write_episode(tmp_path)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_works_in_the_session_of_an_episode(episode_file: Path, era: str) -> None:
    server = stdio_server("commerce", "--episode", episode_file, "--session", "tiny_shop_test")
    async with Client(stdio_client(server), mode=era) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        first = await client.call_tool("build_shopping_list", {"items": ["tea"]})
        second = await client.call_tool("build_shopping_list", {"items": ["jam"]})
    assert tools == ["get_user_confirmation", "search_products", "build_shopping_list", "place_order"]
    assert _list_id(first) != _list_id(second)


async def test_a_list_of_references_is_enough(tmp_path: Path) -> None:
    file = tmp_path / "references.json"
    file.write_text('[{"id": "prod_cup", "type": "product", "attributes": {"name": "Cup"}}]')
    async with Client(stdio_client(stdio_server("commerce", "--references", file))) as client:
        found = await client.call_tool("search_products", {})
    assert found.structured_content is not None
    assert "prod_cup" in json.dumps(found.structured_content)


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_killed_in_mid_call_is_an_error_at_the_client(
    episode_file: Path, tmp_path: Path, era: str
) -> None:
    pid_file = tmp_path / "pid"
    command = serve_command("auto", "--episode", episode_file, "--session", "tiny_shop_test")
    script = 'echo $$ > "$0"; exec "$@"'
    server = StdioServerParameters(command="/bin/sh", args=["-c", script, str(pid_file), *command])

    async def kill_soon() -> None:
        await anyio.sleep(0.2)
        os.kill(pid, signal.SIGKILL)

    with anyio.fail_after(30):
        async with Client(stdio_client(server), mode=era) as client:
            await client.list_tools()
            pid = int(pid_file.read_text())
            os.kill(pid, signal.SIGSTOP)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(kill_soon)
                with pytest.raises(MCPError, match="closed"):
                    await client.call_tool("search_products", {})


def test_no_line_a_peer_can_send_ends_the_server_or_goes_unanswered(episode_file: Path) -> None:
    deep = "[" * 200 + "]" * 200
    lines = {
        "NaN": _call(1, '{"category": NaN}'),
        "infinity": _call(2, '{"budget": 1e999}'),
        "lone surrogate": _call(3, r'{"category": "\ud800"}'),
        "nested 200 deep": _call(4, f'{{"category": {deep}}}'),
        "5 MB": _call(5, f'{{"category": "{"x" * 5_000_000}"}}'),
        "arguments that are a list": _call(6, "[1]"),
        "a number of 5000 digits": _call(7, f'{{"budget": {"9" * 4000}}}'),
        "parameters that are a list": '{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": [1]}',
        "raw bytes": _call(9, '{"category": "\udcff\udcfe"}'),
    }
    with _server("auto", "--episode", episode_file, "--session", "tiny_shop_test") as server:
        answers = _talk(server, [*lines.values(), '{"broken', "[1, 2]", "\udcff", _call(99, "{}")], until=99)
    by_id = {answer["id"]: answer for answer in answers}
    assert "error" not in by_id[99]
    assert not by_id[99]["result"].get("isError")
    for number, name in enumerate(list(lines)[:8], start=1):
        answer = by_id[number]
        assert "error" in answer or answer["result"]["isError"], name
    assert sum(answer["id"] is None for answer in answers) == 3
    assert server.returncode == 0


def test_nothing_of_the_gold_reaches_the_server(episode_file: Path) -> None:
    spec, binding = episode_environment(episode_file, "tiny_shop_test")
    assert GOLD not in spec.model_dump_json() + binding.model_dump_json()


def test_a_client_that_is_gone_before_the_answer_is_no_traceback(episode_file: Path) -> None:
    with _server("auto", "--episode", episode_file, "--session", "tiny_shop_test") as server:
        _talk(server, [_call(1, "{}")], until=1, close=False)
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdout.close()
        server.stdin.write(_call(2, "{}").encode() + b"\n")
        server.stdin.close()
        assert server.wait(20) == 0
        assert server.stderr is not None
        assert b"Traceback" not in server.stderr.read()


def test_an_interrupt_ends_the_server_without_a_traceback(episode_file: Path) -> None:
    with _server("auto", "--episode", episode_file, "--session", "tiny_shop_test") as server:
        _talk(server, [_call(1, "{}")], until=1, close=False)
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == -signal.SIGINT
        assert server.stderr is not None
        assert b"Traceback" not in server.stderr.read()


def _list_id(result: Any) -> str:
    return result.structured_content["list_id"]


def _call(number: int, arguments: str) -> str:
    params = f'{{"name": "search_products", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/call", "params": {params}}}'


@contextmanager
def _server(*arguments: object) -> Generator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(serve_command(*arguments), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


def _talk(
    server: subprocess.Popen[bytes], lines: list[str], *, until: int, close: bool = True
) -> list[dict[str, Any]]:
    """Sends lines after the handshake; the answers up to the one with the id `until`."""
    assert server.stdin is not None
    assert server.stdout is not None
    for line in (json.dumps(HELLO), json.dumps(READY), *lines):
        server.stdin.write(line.encode(errors="surrogateescape") + b"\n")
        server.stdin.flush()
    answers: list[dict[str, Any]] = []
    while not answers or answers[-1]["id"] != until:
        answers.append(json.loads(server.stdout.readline()))
    if close:
        server.stdin.close()
        server.wait(20)
    return answers
