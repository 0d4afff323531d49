"""Episodes step by step over HTTP."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from atr_client import play_episode
from atr_client.cli.serve_episodes_command import ServeEpisodesRequest, served_episodes
from atr_client.errors import ConfigError
from atr_client.gateway.step_app import step_app
from atr_client.gateway.step_host import StepHost
from atr_client.models.base import ToolSpec
from atr_data import load_episode
from atr_data.trajectory import Message
from tests.support.cells import small_episode
from tests.support.gateway import EPISODE, asker, in_process, write_episode
from tests.support.limits import exit_code, first_lines

START = {"episode": "pp_a_seed000", "variant": "default"}
GOODBYE = {"name": "send_to_user", "arguments": {"output": "Goodbye, that is all done.", "reason": "done"}}
SECRET = {"Authorization": "Bearer secret"}


@asynccontextmanager
async def hosting(
    episodes: Mapping[str, Path], *, ttl: float = 3600, cap: int = 64
) -> AsyncGenerator[httpx2.AsyncClient]:
    app = step_app(StepHost(episodes, ttl=ttl, cap=cap), token="secret")
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8767", headers=SECRET, timeout=60
        ) as http,
    ):
        yield http


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Path]:
    return {"pp_a_seed000": write_episode(tmp_path, small_episode())}


async def play(http: httpx2.AsyncClient, variant: str) -> dict[str, Any]:
    """Plays the episode with the asker and returns the last step, with all rewards added up."""
    step = (await http.post("/episodes", json={"episode": EPISODE.stem, "variant": variant})).json()
    path, told, reward = f"/episodes/{step['id']}/step", list[Message](), 0.0
    while not step["done"]:
        told = [*told[: step["kept"]], *(Message.model_validate(m) for m in step["messages"])]
        reply = await asker().respond(told, [ToolSpec(**tool) for tool in step["tools"]])
        calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in reply.tool_calls]
        step = (await http.post(path, json={"tool_calls": calls})).json()
        reward += step["reward"]
    return {**step, "reward": reward}


@pytest.mark.parametrize("variant", ["atr", "oracle_target"])
async def test_it_scores_as_a_run_does(variant: str) -> None:
    async with hosting({EPISODE.stem: EPISODE}) as http:
        last = await play(http, variant)
    metrics = (await play_episode(str(EPISODE), variant, asker())).evaluation["metrics"]
    assert last["result"] == {"passed": metrics["success_count"], "tests": 14}
    assert last["reward"] == metrics["success_count"]


async def test_a_step_tells_session_messages_tools_reward_and_end(small: dict[str, Path]) -> None:
    async with hosting(small) as http:
        opened = await http.post("/episodes", json=START)
        first = opened.json()
        assert opened.status_code == 201
        assert (first["session_id"], first["done"], first["reward"], first["ended"]) == ("l0", False, 0.0, [])
        assert [m["role"] for m in first["messages"]] == ["system", "user"]
        assert [t["name"] for t in first["tools"]][:2] == ["send_to_user", "get_user_confirmation"]
        path = f"/episodes/{first['id']}"
        second = (await http.post(f"{path}/step", json={"tool_calls": [GOODBYE]})).json()
        assert (await http.get(path)).json() == second
        assert (await http.post(f"{path}/reset")).json()["session_id"] == "l0"
        assert (await http.delete(path)).status_code == 204
        for gone in (await http.delete(path), await http.post(f"{path}/step", json={}), await http.get(path)):
            assert (gone.status_code, set(gone.json())) == (404, {"error"})
        assert (await http.get("/episodes")).json() == {"episodes": ["pp_a_seed000"]}


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "no JSON"),
        (b"[" * 100_000, 400, "no JSON"),
        (b"\xff\xfe", 400, ""),
        (b"[]", 400, ""),
        (json.dumps({**START, "episode": "../../etc/passwd"}).encode(), 404, "no such episode"),
        (json.dumps({**START, "episode": "/etc/passwd"}).encode(), 404, "no such episode"),
        (json.dumps({**START, "variant": "oracle"}).encode(), 400, "unknown variant"),
        (json.dumps({**START, "memory": "vector"}).encode(), 400, "unknown memory layer"),
        (json.dumps({**START, "max_steps": 10**9}).encode(), 400, "max_steps"),
        (b'{"episode": "pp_a_seed000", "variant": "default", "timeout": NaN}', 400, "timeout"),
        (json.dumps({**START, "\ud800": 1}).encode(), 400, ""),
        (json.dumps({**START, "x": "y" * 2_000_000}).encode(), 413, "larger"),
    ],
)
async def test_what_cannot_be_opened_is_refused(
    small: dict[str, Path], body: bytes, status: int, message: str
) -> None:
    async with hosting(small) as http:
        answer = await http.post("/episodes", content=body)
    assert answer.status_code == status
    assert message in answer.json()["error"]


async def test_replies_of_any_kind_do_no_harm(small: dict[str, Path]) -> None:
    odd: list[bytes] = [
        b'{"content": null}',
        b'{"content": "\\ud800"}',
        b'{"tool_calls": [{"name": "archive_files", "arguments": {"x": NaN}}]}',
        b'{"tool_calls": [{"name": "\\ud800", "id": "c"}, {"name": "x", "id": "c"}]}',
    ]
    async with hosting(small) as http:
        path = f"/episodes/{(await http.post('/episodes', json=START)).json()['id']}/step"
        for body in odd:
            assert (await http.post(path, content=body)).status_code == 200, body
        for body in (b'{"tool_calls": [{"arguments": {}}]}', b'{"tool_calls": 3}', b'{"text": "x"}'):
            assert (await http.post(path, content=body)).status_code == 400, body


async def test_an_oracle_without_statements_is_refused_without_telling_its_rules(tmp_path: Path) -> None:
    episode = small_episode()
    rules = [rule.model_copy(update={"canonical_answer": " "}) for rule in episode.rules]
    path = write_episode(tmp_path, episode.model_copy(update={"rules": rules}))
    async with hosting({"pp_a_seed000": path}) as http:
        answer = await http.post("/episodes", json={**START, "variant": "oracle_full"})
    assert answer.status_code == 400
    assert "r0" not in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
    ],
)
async def test_strangers_are_refused(small: dict[str, Path], headers: dict[str, str], status: int) -> None:
    async with hosting(small) as http:
        for answer in (
            await http.get("/episodes", headers=headers),
            await http.post("/episodes", json=START, headers=headers),
            await http.post("/episodes/x/step", json={}, headers=headers),
            await http.delete("/episodes/x", headers=headers),
        ):
            assert (answer.status_code, set(answer.json())) == (status, {"error"})


async def test_caps_idle_ends_and_one_request_at_a_time(small: dict[str, Path]) -> None:
    async with hosting(small, cap=2, ttl=0.5) as http:
        ids = [(await http.post("/episodes", json=START)).json()["id"] for _ in range(2)]
        assert (await http.post("/episodes", json=START)).status_code == 503
        statuses: list[int] = []

        async def step() -> None:
            answer = await http.post(f"/episodes/{ids[0]}/step", json={"tool_calls": [GOODBYE]})
            statuses.append(answer.status_code)

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(step)
        assert 200 in statuses
        assert set(statuses) <= {200, 409}
        await anyio.sleep(0.8)
        assert (await http.get(f"/episodes/{ids[1]}")).status_code == 404
        assert (await http.post("/episodes", json=START)).status_code == 201


async def test_sixteen_at_once_over_http_score_alike() -> None:
    passed: list[int] = []
    async with hosting({EPISODE.stem: EPISODE}) as http:

        async def one() -> None:
            passed.append((await play(http, "oracle_target"))["result"]["passed"])

        async with anyio.create_task_group() as tasks:
            for _ in range(16):
                tasks.start_soon(one)
    alone = sum((await in_process("oracle_target")).values())
    assert alone > 0
    assert passed == [alone] * 16


def test_the_command_writes_its_token_where_only_its_user_reads_it(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    command = [sys.executable, "-m", "atr_client.cli", "serve-episodes", str(EPISODE), "--port", "0"]
    with subprocess.Popen(
        [*command, "--token-file", str(token_file)], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            lines = first_lines(process, process.stderr, 2, "the start of a host")
            url = re.findall(r"http://\S+", lines[1])[0]
            assert token_file.stat().st_mode & 0o777 == 0o600
            headers = {"Authorization": f"Bearer {token_file.read_text()}"}
            assert httpx2.get(url, headers=headers, follow_redirects=True).json() == {
                "episodes": [EPISODE.stem]
            }
            assert httpx2.get(url, follow_redirects=True).status_code == 401
        finally:
            process.send_signal(signal.SIGINT)
            assert exit_code(process, "a host that was interrupted") == 0
    assert not token_file.exists()


def test_personas_kept_apart_are_not_served_under_any_seed_or_salt(tmp_path: Path) -> None:
    episode = load_episode(EPISODE)
    stranger = episode.raw_persona.model_copy(update={"persona_id": "somebody_else"})
    other = episode.model_copy(update={"raw_persona": stranger, "episode_id": "pp_b_seed000"})
    salted = episode.model_copy(update={"episode_id": "pp_c_seed017"})
    files = [str(write_episode(tmp_path, made)) for made in (other, salted)]
    request = ServeEpisodesRequest(
        files, None, "127.0.0.1", 0, None, None, (), ttl=60.0, cap=1, without=["split:mini"]
    )
    assert set(served_episodes(request)) == {"pp_b_seed000"}
    with pytest.raises(ConfigError, match="leaves no episode"):
        served_episodes(replace(request, episodes=files[1:]))
