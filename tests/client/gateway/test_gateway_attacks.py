"""Nothing of the gold comes out of a gateway, and nobody comes in who should not."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import Implementation

from atr_client.agents import OFFLINE_MODELS
from atr_client.gateway.gateway_server import build_gateway_server
from atr_data import load_episode
from atr_data.episode import Episode, TestSession
from tests.support.gateway import (
    EPISODE,
    asker,
    connected,
    desk_of,
    hosting,
    over_http,
    passes,
    played,
    running,
    scored,
    write_episode,
)
from tests.support.gold import leaked, secrets
from tests.support.mcp_player import McpPlayer
from tests.support.planted import planted, poisoned
from tests.support.telling import tell_at_gateways

ANSWER = re.compile(r"ZZ-ANSWER-(\d+)-", re.I)
CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def everything_said(
    folder: Path, variant: str, agent: Any, era: str, episode: Episode | None = None
) -> tuple[str, Any]:
    """All bytes of a play of the planted episode, or another, with what went wrong in it; and the desk."""
    said = bytearray()
    desk = desk_of(folder, variant, write_episode(folder, episode or planted(EPISODE)))
    async with hosting([desk], said=said) as (http, [addresses]):
        async with over_http(http, addresses[""], era) as client:
            await client.list_prompts()
            await client.get_prompt("episode")
            for name in ("nonsense", "finish_session", "search_products", "ZZ", "session_status"):
                await client.call_tool(name, {"conversation": True, "id": "../../x"})
            await McpPlayer(client, agent).play()
            await client.call_tool("session_status", {"conversation": True})
        for path in ("/", "/play", "/play/x/mcp", "/admin/env", "/health", "/play/%2e%2e/mcp"):
            await http.get(path)
        for body in (b"{", b"[]", b"\xff", b'{"jsonrpc": "2.0"}'):
            await http.post(addresses[""], content=body, headers=MCP_HEADERS)
    return said.decode("utf-8", "replace"), desk


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_an_agent_that_never_asks_sees_nothing_of_the_rules(tmp_path: Path, era: str) -> None:
    naive = OFFLINE_MODELS["offline/naive"].model()
    said, desk = await everything_said(tmp_path, "atr", naive, era)
    assert len(said) > 100_000
    assert not ANSWER.search(said)
    assert "ZZ-GOLD" not in said
    log = desk.cell.folder.run_log.read_text()
    assert not ANSWER.search(log)
    assert set(re.findall(r"ZZ-GOLD-\w+", log)) <= {"ZZ-GOLD-ls", "ZZ-GOLD-ts"}


async def test_an_agent_that_asks_hears_what_it_asked_for_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_at_gateways(monkeypatch)
    said, desk = await everything_said(tmp_path, "atr", asker(), "auto")
    hit = {
        event.rule_id
        for trajectory in played(desk)
        for event in trajectory.interaction_events
        if event.rule_id
    }
    assert hit
    assert {f"ZZ-GOLD-rule-{n}-" for n in ANSWER.findall(said)} == hit
    assert "ZZ-GOLD" not in said


@pytest.mark.parametrize("variant", ["atr", "oracle_target"])
async def test_nothing_of_an_episode_as_it_ships_is_sent_but_what_its_agent_may_see(
    tmp_path: Path, variant: str
) -> None:
    episode = load_episode(EPISODE)
    statements = [rule.canonical_answer for rule in episode.rules] if variant == "oracle_target" else []
    assert len(secrets(episode, *statements)) > 100
    naive = OFFLINE_MODELS["offline/naive"].model()
    said, desk = await everything_said(tmp_path, variant, naive, "auto", episode)
    assert leaked(said, episode, *statements) == set()
    assert leaked(said + json.dumps({"x": episode.rules[3].rule_text}), episode, *statements) != set()
    log = desk.cell.folder.run_log.read_text()
    ids = {session.session_id for session in (*episode.learning_sessions, *episode.test_sessions)}
    assert leaked(log, episode, *statements, *ids, desk.cell.key.cell_id) == set()


def rule_of(session: object) -> str:
    assert isinstance(session, TestSession)
    return session.rule_id


async def test_an_oracle_tells_each_test_its_own_statement_alone(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target", write_episode(tmp_path, planted(EPISODE)))
    rules = [rule.rule_id for rule in desk.cell.episode.rules]
    async with running(desk) as seat:
        for hosted in desk.tests:
            said = (await seat.call("next_session", {})).texts[0]
            said += (await seat.call("session_status", {"conversation": True})).texts[0]
            said += "".join((await seat.call("finish_session", {})).texts)
            assert "ZZ-GOLD" not in said
            assert {int(n) for n in ANSWER.findall(said)} == {rules.index(rule_of(hosted.session))}


async def test_text_that_wants_to_take_over_changes_nothing(tmp_path: Path) -> None:
    for variant in ("atr", "oracle_target"):
        path = write_episode(tmp_path, poisoned(planted(EPISODE)))
        desk = desk_of(tmp_path / variant, variant, path)
        async with running(desk) as seat, connected(seat) as client:
            player = McpPlayer(client, asker())
            await player.play()
        assert len(player.sessions) == len(desk.sessions)
        assert len(played(desk)) == len(desk.sessions)
        assert len(passes(scored(desk))) == 14
        assert "ZZ-GOLD" not in "".join(player.raw)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic secret"}, 401),
    ],
)
async def test_strangers_are_refused(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    async with hosting([desk_of(tmp_path)], token="secret") as (http, [addresses]):
        answer = await http.post(addresses[""], json=CALL, headers={**MCP_HEADERS, **headers})
        assert (answer.status_code, set(answer.json())) == (status, {"error"})
        async with over_http(http, addresses[""]) as client:
            assert len((await client.list_tools()).tools) == 3


NOWHERE = """
/play /play/ /play/mcp /play//mcp /play/guess/mcp /play/../mcp /play/%2e%2e/%2e%2e/mcp /play/%00/mcp
/play/guess/../../etc/passwd /admin/env /x
"""


@pytest.mark.parametrize("path", NOWHERE.split())
async def test_guesses_and_path_tricks_lead_nowhere(tmp_path: Path, path: str) -> None:
    async with hosting([desk_of(tmp_path)]) as (http, _):
        answer = await http.post(path, json=CALL, headers=MCP_HEADERS, follow_redirects=True)
        assert answer.status_code == 404


async def test_bodies_and_arguments_have_a_largest_size(tmp_path: Path) -> None:
    async with hosting([desk_of(tmp_path, "oracle_target")]) as (http, [addresses]):
        huge = b'{"jsonrpc": "2.0", "x": "' + b"x" * 5_000_000 + b'"}'
        answer = await http.post(addresses[""], content=huge, headers=MCP_HEADERS)
        assert answer.status_code in (400, 413)
        async with over_http(http, addresses[""]) as client:
            await client.list_tools()
            await client.call_tool("next_session", {})
            large = await client.call_tool("get_user_confirmation", {"target_tool": "x" * 2_000_000})
            assert large.is_error
            assert len(large.content[0].text) < 1000  # pyright: ignore[reportAttributeAccessIssue]
            done = await client.call_tool("finish_session", {})
            assert not done.is_error


async def test_a_body_that_comes_slowly_is_ended_and_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atr_client.gateway.gateway_host.BODY_SECONDS", 0.3)
    statuses: list[int] = []

    async def dripping() -> AsyncGenerator[bytes]:
        yield b'{"jsonrpc": '
        await anyio.sleep(600)

    async with hosting([desk_of(tmp_path)]) as (http, [addresses]):

        async def slow() -> None:
            answer = await http.post(addresses[""], content=dripping(), headers=MCP_HEADERS)
            statuses.append(answer.status_code)

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(slow)
            async with over_http(http, addresses[""]) as client:
                assert len((await client.list_tools()).tools) == 3
    assert statuses == [408] * 8


async def test_a_flood_is_refused_beyond_a_queue_and_the_budget_holds(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target")
    refusals: list[str] = []
    async with running(desk) as seat:
        await seat.call("next_session", {})

        async def one() -> None:
            told = await seat.call("get_user_confirmation", {"target_tool": "x", "target_params": {}})
            refusals.extend([told.texts[0]] if told.is_error else [])

        async with anyio.create_task_group() as tasks:
            for _ in range(500):
                tasks.start_soon(one)
        assert sum("too many calls at once" in text for text in refusals) == 500 - 64
        (trajectory,) = played(desk)
        assert (trajectory.termination_reason, trajectory.step_count) == ("max_steps", 20)
        assert not (await seat.call("next_session", {})).is_error


async def test_names_and_arguments_that_no_wire_carries_harm_nobody(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target")
    deep: Any = {}
    for _ in range(200):
        deep = {"x": deep}
    async with running(desk) as seat:
        await seat.call("next_session", {})
        for name, arguments in (("\ud800", {}), ("x" * 100_000, {}), ("get_user_confirmation", deep)):
            told = await seat.call(name, arguments)
            assert told.is_error
            "".join(told.texts).encode()
        assert not (await seat.call("finish_session", {})).is_error
    files = [path.read_text(encoding="utf-8") for path in desk.cell.folder.trajectories.glob("*.json")]
    assert len(files) == 1


@pytest.mark.parametrize(
    ("name", "lists_all"), [("codex-mcp-client", True), ("cursor-vscode", True), ("claude-code", False)]
)
async def test_a_client_that_lists_once_sees_every_tool(tmp_path: Path, name: str, lists_all: bool) -> None:
    known = Implementation(name=name, version="0.1")
    async with (
        running(desk_of(tmp_path)) as seat,
        Client(build_gateway_server(seat), client_info=known, mode="legacy") as client,
    ):
        assert (len((await client.list_tools()).tools) > 74) is lists_all


async def test_a_client_with_short_results_reads_long_memories_in_pages(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    async with running(desk) as seat:
        async with connected(seat) as client:
            await McpPlayer(client, asker()).play(most_sessions=27)
        codex = Implementation(name="codex-mcp-client", version="0.1")
        async with Client(build_gateway_server(seat), client_info=codex, mode="legacy") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert len(names) == len(set(names)) > 74
            player = McpPlayer(client, asker())
            begun = await player.ask("next_session")
            assert len(begun["instructions"]) < 8000
            first = await player.ask("read_memory", page=1)
            pages = [await player.ask("read_memory", page=n + 1) for n in range(first["of"])]
            assert all(len(page["text"]) <= 8000 for page in pages)
            (running_one,) = [h for h in desk.sessions.values() if h.is_running]
            whole = str(running_one.messages[0].content)
            assert "".join(page["text"] for page in pages) in whole
            assert "no such page" in (await player.ask("read_memory", page=99))["error"]
            foreign = next(name for name in names if name not in (*begun["tools"], *names[:4]))
            refused = await player.ask(foreign)
            assert "Unknown tool" in refused["error"]
