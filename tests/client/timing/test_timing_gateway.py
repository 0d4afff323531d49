"""Agents from outside play the timing track: through MCP, and step by step."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from atr_client.cli.timing_play_command import external_desk_of
from atr_client.errors import ConfigError, ManifestMismatch, StepError
from atr_client.gateway.gateway_host import gateway_app
from atr_client.gateway.gateway_server import build_gateway_server
from atr_client.gateway.step_app import step_app
from atr_client.gateway.step_host import StepHost
from atr_client.gateway.timing_desk import TimingDesk
from atr_client.gateway.timing_seat import TimingSeat, timing_doors
from atr_client.gateway.timing_stepper import TimingStepper, timing_steppers
from atr_client.models.base import ModelReply
from atr_client.timing.chooser_agent import ChooserAgent, call_for
from atr_client.timing.choosers.chooser import served_event
from atr_client.timing.choosers.reader import Reader
from atr_client.timing.direct import play_directly
from atr_client.timing.timing_config import TimingConfig
from atr_client.timing.timing_results import conditions
from atr_client.timing.timing_set import TimingSet
from atr_data.trajectory import ToolCall
from atr_evaluator.timing import score_timing
from atr_servers.hosts.environment_host import Host
from tests.support.timing_sets import generated, saved_set

USER = generated(2)[0]
WANTED = score_timing([play_directly(Reader(), USER)])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved_set(tmp_path_factory.mktemp("set"), 1)


def desk_of(small: Path, folder: Path, **keys: Any) -> TimingDesk:
    config = TimingConfig.model_validate(
        {"name": "x", "track": "timing", "set": {"folder": small}, "models": ["offline/never"], **keys}
    )
    return external_desk_of(config, "u000", "external", folder / "out", False, False)


@asynccontextmanager
async def seated(desk: TimingDesk) -> AsyncGenerator[Client]:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.run)
        async with Client(build_gateway_server(TimingSeat(desk), all_tools=False)) as client:
            yield client
        await desk.scored()
        tasks.cancel_scope.cancel()


async def call(client: Client, tool: str, **arguments: Any) -> tuple[dict[str, Any], list[str]]:
    """The answer, and what was said beside it."""
    result = await client.call_tool(tool, arguments)
    texts = [block.text for block in result.content]  # pyright: ignore[reportAttributeAccessIssue]
    return json.loads(texts[0]), texts[1:]


async def play_sitting(client: Client, at_most: int = 1000) -> None:
    """Plays as the reader does; `at_most` so many decisions."""
    chooser, seen = Reader(), []
    answer, over = await call(client, "start_sitting")
    event = served_event(answer["current"])
    sitting = next(s for s in USER.stream.header.sittings if s.first_event <= event.event_id <= s.last_event)
    chooser.begin(USER, sitting)
    while answer["current"] and at_most:
        event, at_most = served_event(answer["current"]), at_most - 1
        tool, arguments = call_for(event, chooser.decide(event, seen))
        answer, over = await call(client, tool, **arguments)
        seen += [event, *map(served_event, answer["passed"])]
    assert bool(over) is (answer["current"] is None)


async def test_an_mcp_agent_plays_to_the_score_of_the_same_decisions(small: Path, tmp_path: Path) -> None:
    desk = desk_of(small, tmp_path)
    async with seated(desk) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {"next_session", "session_status", "start_sitting", "stay_silent", "assist", "recent"}
        refusal, _ = await call(client, "start_sitting")
        assert "next_session" in refusal["error"]
        for number in (1, 2, 3):
            told, _ = await call(client, "next_session")
            assert told["session"] == f"test {number}"
            assert "start_sitting" in told["instructions"]
            assert "still running" in (await call(client, "next_session"))[0]["error"]
            await play_sitting(client)
        end, _ = await call(client, "next_session")
        assert (end["session"], end["over"]) == (None, 3)
    (found,) = conditions(tmp_path / "out")
    assert found.results["external"] == WANTED
    manifest = json.loads(desk.cell.folder.manifest.read_text("utf-8"))
    assert (manifest["agent"], manifest["complete"]) == ("external", True)
    assert manifest["clients"][0]["name"]


async def test_an_agent_that_left_finds_its_finished_sittings_kept(small: Path, tmp_path: Path) -> None:
    async with seated(desk_of(small, tmp_path)) as client:
        await call(client, "next_session")
        await play_sitting(client)
        await call(client, "next_session")
        await play_sitting(client, at_most=5)
        status, _ = await call(client, "session_status")
        assert (status["session"], status["over"]) == ("test 2", 1)
    async with seated(desk_of(small, tmp_path)) as client:
        told, _ = await call(client, "next_session")
        assert told["session"] == "test 2"
        await play_sitting(client)
        await call(client, "next_session")
        await play_sitting(client)
    assert conditions(tmp_path / "out")[0].results["external"] == WANTED


async def test_sittings_are_played_at_once_each_at_an_address_of_its_own(small: Path, tmp_path: Path) -> None:
    desk, host = desk_of(small, tmp_path), Host(ttl=60, cap=16)
    app = gateway_app(host, [desk], token="t")
    transport = httpx2.ASGITransport(app=app)
    address = {"transport": transport, "base_url": "http://127.0.0.1", "timeout": 60}
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(**address) as stranger,
        httpx2.AsyncClient(**address, headers={"Authorization": "Bearer t"}) as web,
    ):
        doors = [(name.strip(), server) for name, server in timing_doors(desk)]
        assert [name for name, _ in doors[1:]] == ["test 1", "test 2", "test 3"]
        urls = [
            f"http://127.0.0.1/play/{await host.open_server(server, expires=False)}/mcp"
            for _, server in doors[1:]
        ]
        assert (await stranger.post(urls[0], json={})).status_code == 401
        meet = Meeting(len(urls))

        async def play(number: int, url: str) -> None:
            async with Client(streamable_http_client(url, http_client=web)) as client:
                told, _ = await call(client, "next_session")
                assert told["session"] == f"test {number}"
                await meet.all_here()
                await play_sitting(client)
                assert (await call(client, "next_session"))[0]["session"] is None

        async with anyio.create_task_group() as tasks:
            for number, url in enumerate(urls, start=1):
                tasks.start_soon(play, number, url)
        await desk.scored()
    assert conditions(tmp_path / "out")[0].results["external"] == WANTED


class Meeting:
    """Nobody goes on before all are there."""

    def __init__(self, number: int) -> None:
        self.missing, self.complete = number, anyio.Event()

    async def all_here(self) -> None:
        self.missing -= 1
        if not self.missing:
            self.complete.set()
        await self.complete.wait()


async def test_another_run_is_refused(small: Path, tmp_path: Path) -> None:
    async with seated(desk_of(small, tmp_path)) as client:
        await call(client, "next_session")
    with pytest.raises(ManifestMismatch):
        desk_of(small, tmp_path, turn_budget=3)
    with pytest.raises(ConfigError, match="none of the set's users"):
        config = {"name": "x", "track": "timing", "set": {"folder": small}, "models": ["offline/never"]}
        external_desk_of(TimingConfig.model_validate(config), "u009", "e", tmp_path, False, False)


async def test_days_of_the_past_come_first_where_the_memory_is_the_agents_own(
    small: Path, tmp_path: Path
) -> None:
    async with seated(desk_of(small, tmp_path, memory="own")) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names >= {"remember", "finish_day"}
        (only,) = timing_doors(desk_of(small, tmp_path / "other", memory="own"))
        assert only[0].endswith("memory-own__window-300__layer-context")
        for number in range(1, 17):
            told, _ = await call(client, "next_session")
            assert told["session"] == f"learning {number}"
            assert "self_help | " in told["user"]
            await call(client, "remember", note=f"note of day {number}")
            assert (await call(client, "finish_day"))[1]
        told, _ = await call(client, "next_session")
        assert told["session"] == "test 1"
        assert "note of day 16" in told["instructions"]


async def test_a_memory_with_tools_of_its_own_is_written_by_them(small: Path, tmp_path: Path) -> None:
    async with seated(desk_of(small, tmp_path, memory="own", memory_layer="notes")) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"memory_save", "memory_search", "finish_day"} <= names
        assert "remember" not in names
        await call(client, "next_session")
        await call(client, "memory_save", text="asks about plans")
        assert (await call(client, "finish_day"))[1]
        await call(client, "next_session")
        found, _ = await call(client, "memory_search", query="plans")
        assert found["notes"][0]["text"] == "asks about plans"


async def test_a_budget_without_decisions_cuts_the_sitting_short(small: Path, tmp_path: Path) -> None:
    async with seated(desk_of(small, tmp_path, turn_budget=2)) as client:
        await call(client, "next_session")
        await call(client, "start_sitting")
        _, over = await call(client, "recent", seconds=10)
        assert "cut short" in json.loads(over[0])["next"]
        told, _ = await call(client, "next_session")
        assert told["session"] == "test 2"


async def test_stepping_sums_to_the_utility(small: Path) -> None:
    chosen = TimingSet.load(small)
    async with TimingStepper(chosen, "u000") as stepper:
        with pytest.raises(StepError):
            await stepper.step(ModelReply("x"))
        for _ in range(2):
            step, total, ended = await stepper.reset(), 0.0, []
            agent = None
            while not step.done:
                if agent is None or step.session_id != agent[0]:
                    sitting = USER.stream.sitting(step.session_id or "")
                    agent = (step.session_id, ChooserAgent(Reader(), USER, sitting))
                reply = await agent[1].respond(stepper.conversation, step.tools)
                step = await stepper.step(reply)
                total += step.reward
                ended += step.ended
            assert [one.session_id for one in ended] == [s.sitting_id for s in USER.stream.header.sittings]
            assert stepper.outcome["utility"] == WANTED["utility"]
            assert total == pytest.approx(WANTED["utility"] * WANTED["needs"], abs=5e-5 * WANTED["needs"])


async def test_stepping_over_http(small: Path) -> None:
    host = StepHost({}, ttl=60, cap=4, others=timing_steppers(small))
    app = step_app(host, token="t")
    async with host.running():
        transport = httpx2.ASGITransport(app=app)
        headers = {"Authorization": "Bearer t", "Host": "127.0.0.1"}
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=headers
        ) as web:
            assert (await web.get("/episodes")).json() == {"episodes": ["timing/u000"]}
            wrong = {"episode": "timing/u000", "variant": "timing", "memory": "elephant"}
            refused = await web.post("/episodes", json=wrong)
            assert refused.status_code == 400
            opened = (await web.post("/episodes", json={**wrong, "memory": "search"})).json()
            assert "search_past" in {tool["name"] for tool in opened["tools"]}
            place, call_ = f"/episodes/{opened['id']}/step", ToolCall(id="c", name="start_sitting")
            body = {"tool_calls": [{"name": call_.name, "arguments": {}}]}
            step = (await web.post(place, json=body)).json()
            assert json.loads(step["messages"][-1]["content"])["current"]
