"""Environments and gateway episodes at once over HTTP: time per call, memory of the hosts, and no leak.

python -m tests.benchmarks.bench_load [CALLS] [SIDE_BY_SIDE]

Every environment and every episode holds marks of its own, in its objects and in its gold. All that a client
hears is searched for marks of others and of gold. The hosts run in processes of their own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.types import CallToolResult

from tests.client.gateway.test_gateway_load import ERAS, MARK, episode_with_marks
from tests.support.gateway import asker
from tests.support.mcp_player import McpPlayer

ROUNDS = 4
"""How many times environments are opened, used and closed. Memory must not grow from round to round."""
TELLING = """
import pytest
from atr_client.cli.app import main
from tests.support.telling import tell_at_gateways
tell_at_gateways(pytest.MonkeyPatch())
main()
"""
"""The command with a user who answers every question, so that her marks are heard."""

EPISODE_ROUNDS = 2
"""How many times so many episodes are played, each one once; the second time must add no memory."""


class Timed(Client):
    """Keeps how long each call took."""

    seconds: list[float]

    async def call_tool(self, *arguments: Any, **more: Any) -> CallToolResult:
        began = time.perf_counter()
        result = await super().call_tool(*arguments, **more)
        self.seconds.append(time.perf_counter() - began)
        return result


def timed(url: str, era: Any, seconds: list[float]) -> Timed:
    client = Timed(url, mode=era)
    client.seconds = seconds
    return client


@contextmanager
def environment_host() -> Generator[tuple[int, str, dict[str, str]]]:
    command = [sys.executable, "-m", "atr_servers.cli", "serve", "--http", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout
        ready = json.loads(process.stdout.readline())
        token = Path(ready["token_file"]).read_text(encoding="utf-8")
        try:
            yield process.pid, ready["url"], {"Authorization": f"Bearer {token}"}
        finally:
            process.terminate()


@contextmanager
def gateway(folder: Path, side_by_side: int) -> Generator[tuple[int, list[str]]]:
    """The address of each marked episode."""
    files: list[str] = []
    for number in range(EPISODE_ROUNDS * side_by_side):
        path = folder / f"episode{number:03d}.json"
        episode = episode_with_marks(number).model_copy(update={"episode_id": f"marked{number}_seed000"})
        path.write_text(episode.model_dump_json(), encoding="utf-8")
        files.append(str(path))
    command = [sys.executable, "-c", TELLING, "play", *files, "--variant", "always_ask", "--http"]
    outputs = ("--port", "0", "--outputs", str(folder / "outputs"))
    with subprocess.Popen([*command, *outputs], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        lines = [process.stderr.readline() for _ in range(len(files) * 3)]
        urls = [line.split(": ")[1].strip() for line in lines if not line.startswith(" ")]
        try:
            yield process.pid, urls
        finally:
            process.terminate()


def megabytes(pid: int) -> float:
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1024


def processor_seconds(pid: int) -> int:
    """User and system time of a process, which other programs beside it do not lengthen much."""
    told = subprocess.run(
        ["ps", "-o", "cputimes=", "-p", str(pid)], capture_output=True, text=True, check=True
    )
    return int(told.stdout)


async def use_environment(
    http: httpx2.AsyncClient,
    base_url: str,
    admin: dict[str, str],
    number: int,
    calls: int,
    told: dict[str, Any],
) -> None:
    mark = f"M{number}M-ANSWER"
    lamp = {"id": f"prod_{number}", "type": "product", "attributes": {"name": f"Lamp {mark}", "price": 4}}
    body = {"domain": "commerce", "references": [lamp]}
    opened = (await http.post(f"{base_url}/admin/env", json=body, headers=admin)).json()
    heard: list[str] = []
    async with timed(opened["url"], ERAS[number % 2], told["seconds"]) as client:
        await client.list_tools()
        for turn in range(calls):
            name, arguments = (
                ("search_products", {}) if turn % 2 else ("build_shopping_list", {"items": [mark]})
            )
            heard.append((await client.call_tool(name, arguments)).model_dump_json())
    await http.delete(f"{base_url}/admin/env/{opened['id']}", headers=admin)
    told["heard"].append((number, "".join(heard)))


async def play_episode_of(url: str, number: int, told: dict[str, Any]) -> None:
    async with timed(url, ERAS[number % 2], told["seconds"]) as client:
        player = McpPlayer(client, asker())
        await player.play()
    told["heard"].append((number, "\n".join(player.raw)))


async def environments(
    pid: int, base_url: str, admin: dict[str, str], calls: int, side_by_side: int, told: dict[str, Any]
) -> None:
    each = max(calls // (ROUNDS * side_by_side), 2)
    # A connection kept open may be closed by the host as it is used again, when both wait for a processor.
    async with httpx2.AsyncClient(timeout=600, limits=httpx2.Limits(max_keepalive_connections=0)) as http:
        for _ in range(ROUNDS):
            async with anyio.create_task_group() as tasks:
                for number in range(side_by_side):
                    tasks.start_soon(use_environment, http, base_url, admin, number, each, told)
            told["memory"].append(megabytes(pid))


async def episodes(pid: int, urls: list[str], side_by_side: int, told: dict[str, Any]) -> None:
    told["memory"].append(megabytes(pid))
    numbered = list(enumerate(urls))
    for first in range(0, len(urls), side_by_side):
        async with anyio.create_task_group() as tasks:
            for number, url in numbered[first : first + side_by_side]:
                tasks.start_soon(play_episode_of, url, number, told)
        told["memory"].append(megabytes(pid))


def report(label: str, told: dict[str, Any]) -> None:
    for number, heard in told["heard"]:
        strangers = {(int(n), kind.upper()) for n, kind in MARK.findall(heard)} - {(number, "ANSWER")}
        if strangers:
            sys.exit(f"{label} {number} heard of {sorted(strangers)}")
    if not any(re.search(r"M\d+M-ANSWER", heard, re.I) for _, heard in told["heard"]):
        sys.exit(f"{label}: nobody heard a mark at all, so nothing was looked at")
    seconds = sorted(told["seconds"])
    half, most = (seconds[int(len(seconds) * share)] * 1000 for share in (0.5, 0.99))
    memory = " > ".join(f"{value:.0f}" for value in told["memory"])
    print(
        f"{label:<14} {len(seconds):6} calls  p50 {half:7.1f} ms  p99 {most:7.1f} ms  host {memory} MB, "
        f"{told['processor']} s of a processor"
    )


def nothing_yet() -> dict[str, Any]:
    return {"seconds": [], "heard": [], "memory": []}


async def main(calls: int, side_by_side: int) -> None:
    used, played, load = nothing_yet(), nothing_yet(), os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory() as folder,
        environment_host() as (environment_pid, base_url, admin),
        gateway(Path(folder), side_by_side) as (gateway_pid, urls),
    ):
        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(environments, environment_pid, base_url, admin, calls, side_by_side, used)
            tasks.start_soon(episodes, gateway_pid, urls, side_by_side, played)
        took = time.perf_counter() - began
        used["processor"], played["processor"] = map(processor_seconds, (environment_pid, gateway_pid))
    report("environments", used)
    report("episodes", played)
    total = len(used["seconds"]) + len(played["seconds"])
    print(f"{total} calls in {took:.0f} s, {side_by_side} environments and {side_by_side} episodes at once")
    print(f"load average at the beginning {load:.1f}, of which none is ours")
    print("no mark of another, none of gold")


if __name__ == "__main__":
    wanted = [int(argument) for argument in sys.argv[1:]]
    anyio.run(main, wanted[0] if wanted else 8000, wanted[1] if wanted[1:] else 64)
