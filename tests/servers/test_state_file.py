"""A state file keeps an environment across processes, for one session, without losing a write."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from filelock import FileLock
from mcp import Client, MCPError, stdio_client

from atr_data.errors import DataError
from atr_servers.environment import Environment
from atr_servers.hosts.environment_spec import Binding, episode_environment
from atr_servers.hosts.state_file import StateFile
from atr_servers.server import serve_environment
from tests.support.tiny_episode import PRODUCTS, serve_command, stdio_server, write_episode

BINDING = Binding(environment_sha256="0" * 64, episode_id="tiny_seed000", session_id="tiny_shop_test")


@asynccontextmanager
async def client_on(file: StateFile) -> AsyncGenerator[Client]:
    """A client of a new environment that is kept in the file, as each server process has one."""
    environment = Environment.build("commerce", PRODUCTS)
    await file.open(environment)
    server = serve_environment(environment)
    server.middleware.append(file.keep(environment))
    async with Client(server) as client:
        await client.list_tools()
        yield client


async def write_list(client: Client) -> str:
    result = await client.call_tool("build_shopping_list", {"items": ["tea"]})
    assert result.structured_content is not None
    return result.structured_content["list_id"]


async def order(client: Client) -> str:
    result = await client.call_tool("place_order", {"product_id": "prod_lamp", "quantity": 1})
    assert result.structured_content is not None
    return result.structured_content["order_id"]


async def test_a_later_process_goes_on_where_the_earlier_one_ended(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    async with client_on(StateFile(path, BINDING)) as client:
        order_id = await order(client)
    async with client_on(StateFile(path, BINDING)) as client:
        cancelled = await client.call_tool("cancel_order", {"order_id": order_id})
    assert not cancelled.is_error


async def test_a_read_sees_what_an_overlapping_process_wrote(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    async with client_on(StateFile(path, BINDING)) as one, client_on(StateFile(path, BINDING)) as other:
        order_id = await order(one)
        seen = await other.call_tool("track_order", {"order_id": order_id})
    assert not seen.is_error


async def test_a_refused_call_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    async with client_on(StateFile(path, BINDING)) as client:
        before = path.stat().st_mtime_ns, path.read_bytes()
        refused = await client.call_tool("place_order", {"product_id": "prod_none", "quantity": 1})
        await client.call_tool("search_products", {})
    assert refused.is_error
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before


async def test_concurrent_calls_of_two_servers_lose_no_write(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    ids: list[str] = []

    async def write(client: Client) -> None:
        ids.append(await write_list(client))

    async with (
        client_on(StateFile(path, BINDING)) as one,
        client_on(StateFile(path, BINDING)) as other,
        anyio.create_task_group() as tasks,
    ):
        for client in [one, other] * 10:
            tasks.start_soon(write, client)
    assert len(set(ids)) == 20
    assert set(json.loads(path.read_text())["state"]["tables"]["shopping_lists"]) == set(ids)


async def test_overlapping_processes_of_one_call_each_lose_no_write(tmp_path: Path) -> None:
    episode = write_episode(tmp_path)
    state = tmp_path / "state.json"
    server = stdio_server("--episode", episode, "--session", "tiny_shop_test", "--state", state)
    ids: list[str] = []

    async def one_call() -> None:
        async with Client(stdio_client(server)) as client:
            await client.list_tools()
            ids.append(await write_list(client))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(one_call)
    await one_call()
    assert len(set(ids)) == 4
    assert set(json.loads(state.read_text())["state"]["tables"]["shopping_lists"]) == set(ids)


async def test_a_process_killed_while_it_holds_the_lock_does_not_keep_it(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    script = "import sys, os, filelock; filelock.FileLock(sys.argv[1]).acquire(); os._exit(9)"
    await anyio.run_process([sys.executable, "-c", script, f"{path}.lock"], check=False)
    async with client_on(StateFile(path, BINDING, lock_seconds=1)) as client:
        assert await write_list(client)


async def test_a_call_that_cannot_get_the_lock_is_an_error_and_did_not_happen(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    async with client_on(StateFile(path, BINDING, lock_seconds=0.05)) as client:
        before = path.read_bytes()
        with FileLock(f"{path}.lock"), pytest.raises(MCPError, match="locked by another process"):
            await write_list(client)
        assert path.read_bytes() == before
        assert await write_list(client)


async def test_a_state_file_that_vanishes_is_an_error_and_not_a_fresh_start(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    async with client_on(StateFile(path, BINDING)) as client:
        path.unlink()
        with pytest.raises(MCPError, match="state file is gone"):
            await write_list(client)


@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        (
            {"session_id": "tiny_s00"},
            "the state of session tiny_shop_test of episode tiny_seed000, not",
        ),
        ({"episode_id": None, "session_id": None}, "not of an environment without an episode"),
        ({"environment_sha256": "1" * 64}, "before its references or tools were changed"),
    ],
)
async def test_the_state_of_another_environment_is_refused(
    tmp_path: Path, other: dict[str, str | None], complaint: str
) -> None:
    path = tmp_path / "state.json"
    environment = Environment.build("commerce", PRODUCTS)
    await StateFile(path, BINDING).open(environment)
    with pytest.raises(DataError, match=complaint):
        await StateFile(path, BINDING.model_copy(update=other)).open(environment)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"binding": {}, "state": {}}', "\udcff"])
async def test_a_broken_state_file_is_refused_and_left_alone(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(damage, errors="surrogateescape")
    with pytest.raises(DataError, match="is broken or no state file"):
        await StateFile(path, BINDING).open(Environment.build("commerce", PRODUCTS))
    assert path.read_bytes() == damage.encode(errors="surrogateescape")


async def test_a_state_of_another_shape_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    environment = Environment.build("commerce", PRODUCTS)
    await StateFile(path, BINDING).open(environment)
    path.write_text(path.read_text().replace('"commerce"', '"travel"'))
    with pytest.raises(DataError, match="is broken or no state file"):
        await StateFile(path, BINDING).open(environment)


def test_the_binding_follows_everything_that_shapes_the_environment(tmp_path: Path) -> None:
    episode = write_episode(tmp_path)
    before = episode_environment(episode, "tiny_shop_test")[1]
    assert episode_environment(episode, "tiny_shop_test")[1] == before
    episode.write_text(episode.read_text().replace("Reading lamp", "Lamp"))
    assert episode_environment(episode, "tiny_shop_test")[1] != before


def test_a_foreign_state_file_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    episode = write_episode(tmp_path)
    state = tmp_path / "state.json"
    state.write_text("{}")
    command = serve_command("--episode", episode, "--session", "tiny_shop_test", "--state", state)
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"error: {state}: is broken")
    assert ended.stderr.count("\n") == 1
