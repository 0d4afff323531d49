"""A foreign agent plays a whole episode through the gateway, and it comes to the same."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from atr_client.outputs.scoring import score_folder
from atr_data import load_episode
from atr_data.calls import CallRecord, read_calls
from tests.support.command import call
from tests.support.gateway import (
    EPISODE,
    asker,
    connected,
    desk_of,
    hosting,
    in_process,
    manifest_of,
    over_http,
    passes,
    running,
    scored,
    write_episode,
)
from tests.support.limits import exit_code, first_lines
from tests.support.mcp_player import McpPlayer

PLAY = [sys.executable, "-m", "atr_client.cli", "play"]
ERAS = ("auto", "legacy")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("variant", ["atr", "oracle_target"])
async def test_over_http_it_passes_what_it_passes_in_process(tmp_path: Path, variant: str, era: str) -> None:
    desk = desk_of(tmp_path, variant)
    async with hosting([desk]) as (http, [addresses]), over_http(http, addresses[""], era) as client:
        await McpPlayer(client, asker()).play()
    assert passes(scored(desk)) == await in_process(variant)


@pytest.mark.parametrize(("variant", "era"), [("atr", "legacy"), ("oracle_target", "auto")])
async def test_over_stdio_it_passes_what_it_passes_in_process(tmp_path: Path, variant: str, era: Any) -> None:
    arguments = ["-m", "atr_client.cli", "play", str(EPISODE), "--variant", variant]
    process = StdioServerParameters(command=sys.executable, args=[*arguments, "--outputs", str(tmp_path)])
    async with Client(stdio_client(process), mode=era) as client:
        await McpPlayer(client, asker()).play()
    assert scored_again(tmp_path) == await in_process(variant)


def scored_again(outputs: Path) -> dict[str, bool]:
    """What `score` makes of the files."""
    assert call("score", outputs) == 0
    (evaluation,) = outputs.rglob("eval.json")
    return passes(json.loads(evaluation.read_text()))


@contextmanager
def served(outputs: Path, *options: str) -> Iterator[list[str]]:
    """A gateway over HTTP in a process of its own: its addresses as it tells them."""
    command = [*PLAY, str(EPISODE), "--http", "--port", "0", "--outputs", str(outputs), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            lines = first_lines(process, process.stderr, 15, "the start of a gateway")
            yield [match.group() for line in lines if (match := re.search(r"http://\S+", line))]
        finally:
            process.send_signal(signal.SIGINT)
            assert exit_code(process, "a gateway that was interrupted") == 0


async def test_a_process_over_http_serves_the_episode_and_each_test(tmp_path: Path) -> None:
    with served(tmp_path, "--variant", "oracle_target") as (whole, *tests):
        assert len(tests) == 14
        async with Client(tests[5]) as client:
            await McpPlayer(client, asker()).play()
        async with Client(whole) as client:
            player = McpPlayer(client, asker())
            await player.play()
    assert player.sessions == [f"test {n}" for n in range(1, 15) if n != 6]
    assert scored_again(tmp_path) == await in_process("oracle_target")


async def test_test_sessions_run_side_by_side_on_the_frozen_memory(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    async with hosting([desk]) as (http, [addresses]):
        async with over_http(http, addresses[""]) as client:
            await McpPlayer(client, asker()).play(most_sessions=28)

        async def play(url: str) -> None:
            async with over_http(http, url) as client:
                await McpPlayer(client, asker()).play()

        async with anyio.create_task_group() as tasks:
            for name, url in addresses.items():
                if name:
                    tasks.start_soon(play, url)
    assert passes(scored(desk)) == await in_process("atr")


async def test_what_a_gateway_cannot_see_is_null(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    async with running(desk) as seat, connected(seat) as client:
        await McpPlayer(client, asker()).play()
    row = json.loads(desk.cell.folder.done.read_text())
    unseen = ("off_protocol", "hook_appended", "hook_rescued", "stu_mix_turns", "stu_dup_turns", "avg_turns")
    assert {row[name] for name in (*unseen, "tok_agent_in", "tok_agent_calls", "cost_usd")} == {None}
    assert row["ls_clean"] == 28
    assert row["cls_hit"] > 0
    evaluation = scored(desk)
    assert evaluation["metrics"]["ls_send_calls_total"] > 28
    for name in (
        "ls_off_protocol_asks",
        "ls_hook_appended",
        "ls_stu_mixed_turns",
        "tool_protocol_compliance",
    ):
        assert evaluation["metrics"][name] is None
        assert name in evaluation["not_available"]
    again = score_folder(desk.cell.folder, desk.cell.episode, variant="atr").document
    assert again == evaluation
    from_calls = score_folder(desk.cell.folder, desk.cell.episode, variant="atr", source="calls").document
    assert passes(from_calls) == passes(evaluation)


async def test_the_manifest_says_who_came(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target", agent="somebody")
    async with running(desk) as seat:
        for era in (*ERAS, *ERAS):
            async with connected(seat, era) as client:
                await McpPlayer(client, asker()).play(most_sessions=1)
    manifest = manifest_of(desk)
    assert (manifest["agent"], manifest["model"]) == ("external", "somebody")
    assert [(c["name"], c["protocol"], c["era"]) for c in manifest["clients"]] == [
        ("mcp", "2026-07-28", "modern"),
        ("mcp", "2025-11-25", "handshake"),
    ]


async def test_every_call_is_logged_as_in_a_cell(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target")
    async with running(desk) as seat, connected(seat) as client:
        player = McpPlayer(client, asker())
        await player.play(most_sessions=1)
    calls = [r for r in read_calls(desk.cell.folder.calls) if isinstance(r, CallRecord)]
    assert {call.caller for call in calls} == {"agent", "harness"}
    own = [call for call in calls if call.caller == "agent"]
    assert own
    assert all(call.result in player.raw for call in own)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--variant", "oracle"], "unknown variant 'oracle'"),
        (["--memory", "vector"], "unknown memory layer 'vector'"),
        (["--agent", "../up"], "model id"),
        (["--mode", "test"], "28 of 28 learning sessions were not played"),
        (["--variant", "atr", "--variant", "default"], "more need --http"),
        (["--http", "--host", "0.0.0.0"], "--token-env"),
        (["--http", "--token-env", "ATR_NO_SUCH_TOKEN"], "holds no token"),
    ],
)
def test_what_cannot_be_played_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert call("play", EPISODE, "--outputs", tmp_path, *options) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("listing", [None, True])
async def test_the_tools_of_a_memory_are_offered_and_what_they_keep_is_found(
    tmp_path: Path, listing: bool | None
) -> None:
    whole = load_episode(EPISODE)
    sessions = whole.ordered_learning_sessions()[:1]
    short = whole.model_copy(update={"learning_sessions": sessions, "test_sessions": whole.test_sessions[:1]})
    episode = write_episode(tmp_path, short)
    desk = desk_of(tmp_path, "default", episode, layer="notes")
    async with running(desk) as seat, connected(seat, all_tools=listing) as client:
        await client.call_tool("start_episode", {})
        begun = await client.call_tool("next_session", {})
        assert "memory_save" in begun.content[0].text  # pyright: ignore[reportAttributeAccessIssue]
        assert "memory_save" in [tool.name for tool in (await client.list_tools()).tools]
        saved = await client.call_tool("memory_save", {"text": "tea, never coffee"})
        assert not saved.is_error
        for _ in range(3):
            await client.call_tool("send_to_user", {"output": "Goodbye.", "reason": "done"})
        while "test 1" not in str((await client.call_tool("next_session", {})).content):
            await client.call_tool("send_to_user", {"output": "Goodbye.", "reason": "done"})
        found = await client.call_tool("memory_search", {"query": "coffee"})
        assert "tea, never coffee" in str(found.content)
        await client.call_tool("finish_session", {})
        await client.call_tool("next_session", {})
    logged = [r.tool for r in read_calls(desk.cell.folder.calls) if isinstance(r, CallRecord)]
    assert logged.count("memory_search") == 1 and scored(desk)["verified"] is True
