"""Every block that `atr-server config` prints, played as printed in the client it is for.

Run by `make test-clients`, which brings the clients from npm; no part of the ordinary suite. Claude Desktop
is no npm package: its block has the form that Claude Code reads too, and is played there. The generic block
is played by the MCP client of the Python SDK.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.clients.agents_from_npm import AGENTS, INSTALLED, Agent, Place
from tests.clients.mock_providers import Call, MockProvider, scripted
from tests.support.tiny_episode import serve_command, write_episode

TOOLS = {"get_user_confirmation", "search_products", "place_order", "build_shopping_list"}
TOKEN = "a-token-for-environments"
SCRIPT = [
    [
        Call("search_products", {"sort_by": "price_asc"}),
        Call("build_shopping_list", {"items": ["tea"], "list_name": "Größe"}),
        Call("get_user_confirmation", {"target_tool": "place_order", "target_params": {"quantity": 2}}),
    ],
    [Call("place_order", {"product_id": "prod_nowhere", "quantity": 2})],
    [Call("build_shopping_list", {"items": ["salt", "rice"]})],
]
"""Three tools at once, an error, and a call whose answer depends on an earlier one."""


@dataclass(frozen=True, slots=True)
class Running:
    """A host with one environment open: its addresses and the header that opens `/admin`."""

    base_url: str
    url: str
    env_id: str
    admin: dict[str, str]

    def told(self, what: str) -> dict[str, Any]:
        return httpx2.get(f"{self.base_url}/admin/env/{self.env_id}/{what}", headers=self.admin).json()


@pytest.fixture
def running(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Running]:
    guarded = ("--token-env", "ATR_TOKEN") if request.param else ()
    chosen = ("--episode", write_episode(tmp_path), "--session", "tiny_shop_test", "--port", "0")
    command = serve_command("--http", *chosen, *guarded)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"ATR_TOKEN": TOKEN}) as process:
        try:
            assert process.stdout
            ready = json.loads(process.stdout.readline())
            (opened,) = ready["environments"]
            token = Path(ready["token_file"]).read_text(encoding="utf-8")
            yield Running(ready["url"], opened["url"], opened["id"], {"Authorization": f"Bearer {token}"})
        finally:
            process.terminate()


def printed_block(client: str, *arguments: object) -> str:
    command = [sys.executable, "-m", "atr_servers.cli", "config", client, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def session(folder: Path, *more: object) -> tuple[object, ...]:
    return ("--episode", write_episode(folder), "--session", "tiny_shop_test", *more)


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest) -> Agent:
    chosen = AGENTS[request.param]
    if not (INSTALLED / ".bin" / chosen.binary).exists():
        pytest.fail(f"{chosen.package} is not installed: run `make test-clients`")
    return chosen


def play(agent: Agent, place: Place, block: str, *, first_list: int, **variables: str) -> None:
    """One session of the script, held against what the tools should have answered."""
    started = time.monotonic()
    with MockProvider(agent.form(), scripted(SCRIPT)) as provider:
        agent.prepare(place, block, provider.url)
        played = agent.play(place, provider.url, variables)
    assert played.code == 0, played.printed
    assert set(provider.offered) == TOOLS, played.printed
    assert played.said.strip() == "done", played.printed
    check(provider.results, first_list)
    print(
        f"{agent.package} {agent.version}: {len(provider.offered)} tools, {len(provider.results)} calls, "
        f"state kept from LIST_{first_list:03d} on, {time.monotonic() - started:.1f} s"
    )


def check(results: list[str], first_list: int) -> None:
    """Clients wrap what a tool answered, each in its own way; the answers are whole in it."""
    found, listed, confirmed, refused, again = (text.replace('\\"', '"') for text in results)
    assert "prod_lamp" in found
    assert "prod_desk" in found
    assert f"LIST_{first_list:03d}" in listed
    assert '"confirmed":true' in confirmed.replace(" ", "")
    assert "no product has the product_id" in refused
    assert f"LIST_{first_list + 1:03d}" in again


def test_the_block_of_a_command(agent: Agent, tmp_path: Path) -> None:
    block = printed_block(agent.name, *session(tmp_path))
    play(agent, Place.below(tmp_path / "a"), block, first_list=1)
    play(agent, Place.below(tmp_path / "b"), block, first_list=1)


def test_the_block_of_a_command_with_a_state_file(agent: Agent, tmp_path: Path) -> None:
    block = printed_block(agent.name, *session(tmp_path, "--state", tmp_path / "state ü.json"))
    play(agent, Place.below(tmp_path / "a"), block, first_list=1)
    play(agent, Place.below(tmp_path / "b"), block, first_list=3)


@pytest.mark.parametrize("running", [False], indirect=True, ids=["open"])
def test_the_block_of_an_address(agent: Agent, running: Running, tmp_path: Path) -> None:
    block = printed_block(agent.name, "--url", running.url)
    play(agent, Place.below(tmp_path / "a"), block, first_list=1)
    play(agent, Place.below(tmp_path / "b"), block, first_list=3)
    assert list(running.told("state")["tables"]["shopping_lists"]) == [f"LIST_{n:03d}" for n in range(1, 5)]
    calls = running.told("calls")["calls"]
    assert [sum(call["tool"] == name for call in calls) for name in sorted(TOOLS)] == [4, 2, 2, 2]
    assert sum(call["is_error"] for call in calls) == 2


@pytest.mark.parametrize("running", [True], indirect=True, ids=["guarded"])
def test_the_block_of_an_address_behind_a_token(agent: Agent, running: Running, tmp_path: Path) -> None:
    block = printed_block(agent.name, "--url", running.url, "--token-env", "MY_TOKEN")
    play(agent, Place.below(tmp_path / "a"), block, first_list=1, MY_TOKEN=TOKEN)


def test_the_block_for_claude_desktop_in_the_client_that_reads_the_same_form(tmp_path: Path) -> None:
    play(
        AGENTS["claude-code"],
        Place.below(tmp_path / "a"),
        printed_block("claude-desktop", *session(tmp_path)),
        first_list=1,
    )


async def test_the_generic_block_of_a_command(tmp_path: Path) -> None:
    block = json.loads(printed_block("generic", *session(tmp_path)))
    await _play_sdk(Client(stdio_client(StdioServerParameters(**block))))


@pytest.mark.parametrize("running", [True], indirect=True, ids=["guarded"])
async def test_the_generic_block_of_an_address(running: Running) -> None:
    block = json.loads(printed_block("generic", "--url", running.url, "--token-env", "TOKEN"))
    headers: Mapping[str, str] = block["headers"]
    async with httpx2.AsyncClient(
        headers={k: v.replace("<TOKEN>", TOKEN) for k, v in headers.items()}
    ) as http:
        await _play_sdk(Client(streamable_http_client(block["url"], http_client=http)))


async def _play_sdk(client: Client) -> None:
    results: list[str] = []
    async with client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        for turn in SCRIPT:
            answers: dict[str, str] = {}

            async def one(call: Call, into: dict[str, str]) -> None:
                result = await client.call_tool(call.tool, call.arguments)
                into[call.tool] = json.dumps(result.structured_content)

            async with anyio.create_task_group() as group:
                for call in turn:
                    group.start_soon(one, call, answers)
            results += [answers[call.tool] for call in turn]
    check(results, 1)
