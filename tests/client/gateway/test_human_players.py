"""People in the user's and in the agent's place."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.types import ElicitResult

from atr_client.gateway.desk import Desk
from atr_client.gateway.gateway_server import build_gateway_server
from atr_client.gateway.human_pages import agent_routes, pages_app, person_routes
from atr_client.gateway.person import Answer, Person
from atr_client.gateway.seat import Seat
from atr_client.gateway.terminal import ask_at_the_terminal
from atr_client.outputs.user_line import described_user
from atr_data import Episode, load_episode
from atr_user_sim import UserSimFault
from tests.support.command import call
from tests.support.gateway import (
    EPISODE,
    asker,
    connected,
    desk_of,
    manifest_of,
    played,
    running,
    write_episode,
)
from tests.support.limits import exit_code, first_lines
from tests.support.mcp_player import McpPlayer

BASE = "http://127.0.0.1:8770"
SAYS = "The usual, and whatever works best."


def short_episode(learning: int = 1) -> Episode:
    episode = load_episode(EPISODE)
    return episode.model_copy(
        update={
            "learning_sessions": episode.ordered_learning_sessions()[:learning],
            "test_sessions": episode.test_sessions[:1],
        }
    )


def human_desk(folder: Path, **play: Any) -> Desk:
    return desk_of(folder, "always_ask", write_episode(folder, short_episode()), human_user=True, **play)


@asynccontextmanager
async def page_of(routes: Any) -> AsyncGenerator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=pages_app(routes))
    async with httpx2.AsyncClient(transport=transport, base_url=f"{BASE}/hidden/") as http:
        yield http


def events_of(desk: Desk) -> list[tuple[str, Any]]:
    return [(event.kind, event.rule_id) for event in played(desk)[0].interaction_events]


def said_by_user(desk: Desk) -> list[str]:
    return [str(message.content) for message in played(desk)[0].messages if message.role == "user"]


async def test_a_person_at_a_page_answers_and_rules_are_told_in_their_own_words(tmp_path: Path) -> None:
    desk = human_desk(tmp_path)
    assert desk.person
    notes: list[str] = []
    async with (
        running(desk) as seat,
        page_of(person_routes(desk.person, "hidden")) as http,
        connected(seat) as client,
        anyio.create_task_group() as tasks,
    ):

        async def answer() -> None:
            number = 0
            while True:
                question = (await http.get("question")).json()["question"]
                if question is None or question["number"] == number:
                    await anyio.sleep(0.005)
                    continue
                number = question["number"]
                notes.extend([question["note"]] if question["note"] else [])
                assert "You want:" in question["brief"]
                assert question["agent"]
                told = {"number": number, "text": SAYS, "ends": "goodbye" in question["agent"]}
                assert (await http.post("answer", json=told)).status_code == 204
                assert (await http.post("answer", json=told)).status_code == 409

        tasks.start_soon(answer)
        await McpPlayer(client, asker()).play()
        tasks.cancel_scope.cancel()
    assert any(SAYS in text for text in said_by_user(desk))
    asked = [kind for kind, _ in events_of(desk)].count("cls_verdict")
    assert asked == len(notes) > 0
    recorded = manifest_of(desk)["user_sim"]
    assert recorded["make"] == "human"
    assert described_user(recorded).startswith("human, Classifier")
    rules = {rule.rule_id: rule.canonical_answer for rule in desk.cell.episode.rules}
    for kind, rule_id in events_of(desk):
        if kind == "cls_verdict" and rule_id:
            heart = rules[rule_id].rstrip(".")[5:]
            assert any(heart in text for text in said_by_user(desk))


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_person_at_the_agents_client_answers_by_elicitation(tmp_path: Path, era: Any) -> None:
    desk = human_desk(tmp_path)
    desk.asks_through_client = True
    shown: list[str] = []

    async def elicited(context: Any, params: Any) -> ElicitResult:
        shown.append(params.message)
        return ElicitResult(action="accept", content={"text": SAYS, "ends": "goodbye" in params.message})

    async with running(desk) as seat:
        server = build_gateway_server(seat)
        async with Client(server, mode=era, elicitation_callback=elicited) as client:
            await McpPlayer(client, asker()).play()
    assert len(shown) > 1
    assert any(SAYS in text for text in said_by_user(desk))
    assert played(desk)[0].termination_reason == "task_complete"


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_that_does_not_ask_anybody_breaks_the_session_off(tmp_path: Path, era: Any) -> None:
    desk = human_desk(tmp_path)
    desk.asks_through_client = True

    async def declined(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="decline")

    async with running(desk) as seat:
        server = build_gateway_server(seat)
        async with Client(server, mode=era, elicitation_callback=declined) as client:
            player = McpPlayer(client, asker())
            await player.ask("next_session")
            told = await player.ask("send_to_user", output="Hello?", reason="hello")
    assert "broke off" in told["error"]
    assert not list(desk.cell.folder.trajectories.glob("*.json"))


async def test_a_person_at_the_terminal_answers_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("Blue, please\n\n/end\n"))
    person, shown, heard = Person(), list[str](), list[Answer]()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask_at_the_terminal, person, shown.append)
        for turn in range(3):
            heard.append(await person.ask("You want tea.", (), f"Question {turn}?", None))
        with pytest.raises(UserSimFault, match="standard input ended"):
            await person.ask("You want tea.", (), "Question 3?", None)
        tasks.cancel_scope.cancel()
    assert heard == [Answer("Blue, please"), Answer("..."), Answer(ends=True)]
    assert "Question 0?" in shown[0]
    assert "You want tea." in shown[0]


async def test_a_person_plays_the_agent_in_a_page(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target", write_episode(tmp_path, short_episode()), agent="human")
    async with running(desk) as seat, page_of(agent_routes(seat, "hidden")) as http:
        before = {tool["name"] for tool in (await http.get("tools")).json()["tools"]}
        assert before == {"start_episode", "next_session", "session_status"}
        begun = (await http.post("call", json={"name": "next_session", "arguments": {}})).json()
        offered = json.loads(begun["texts"][0])["tools"]
        tools = {tool["name"]: tool for tool in (await http.get("tools")).json()["tools"]}
        assert set(tools) == {*before, *offered}
        assert all(tool["input_schema"]["type"] == "object" for tool in tools.values())
        wrong = (await http.post("call", json={"name": "cancel_subscription"})).json()
        assert wrong["is_error"]
        done = (await http.post("call", json={"name": "finish_session"})).json()
        assert not done["is_error"]
        with anyio.fail_after(30):
            await desk.finished()
    assert json.loads(desk.cell.folder.done.read_text())["model"] == "human"


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("tools", {"Host": "evil.example"}, 421),
        ("tools", {"Origin": "http://evil.example"}, 403),
        ("../guess/tools", {}, 404),
        ("../tools", {}, 404),
    ],
)
async def test_nobody_else_sits_down(tmp_path: Path, path: str, headers: dict[str, str], status: int) -> None:
    desk = desk_of(tmp_path, "oracle_target", write_episode(tmp_path, short_episode()))
    async with page_of(agent_routes(Seat(desk), "hidden")) as http:
        assert (await http.get(path, headers=headers)).status_code == status
        assert (await http.post("call", content=b"{", headers={})).status_code == 400


@pytest.mark.parametrize("name", ["user", "agent"])
async def test_a_page_puts_nothing_into_markup_and_loads_nothing(tmp_path: Path, name: str) -> None:
    desk = human_desk(tmp_path)
    assert desk.person
    made = person_routes(desk.person, "hidden") if name == "user" else agent_routes(Seat(desk), "hidden")
    async with page_of(made) as http:
        answer = await http.get("")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"innerHTML|insertAdjacent|document\.write|eval\(|https?://", answer.text)


def test_the_command_tells_its_pages_and_ends_with_the_episode(tmp_path: Path) -> None:
    path = write_episode(tmp_path, short_episode())
    options = (
        "--variant",
        "oracle_target",
        "--agent",
        "human",
        "--user",
        "human",
        "--outputs",
        str(tmp_path),
    )
    command = [sys.executable, "-m", "atr_client.cli", "play", str(path), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        lines = first_lines(process, process.stderr, 2, "the start of the pages")
        (agent,) = [line.split()[-1] for line in lines if line.startswith("agent of")]
        assert [line for line in lines if line.startswith("user of")]
        try:
            for name in ("next_session", "finish_session"):
                assert httpx2.post(f"{agent}call", json={"name": name}).json()["is_error"] is False
            assert exit_code(process, "a played episode") == 0
        finally:
            process.send_signal(signal.SIGINT)
    assert list(tmp_path.rglob("eval.json"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--user", "human", "--user-at", "terminal"], "--http for the agent"),
        (["--user", "human", "--user-at", "client", "--agent", "human"], "has no client"),
    ],
)
def test_places_that_are_not_there_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert call("play", EPISODE, "--outputs", tmp_path, *options) == 2
    assert message in capsys.readouterr().err
