"""A play goes on after its client or its server died, and budgets end sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from atr_client.cell.episode_runner import EpisodeRunner
from atr_client.errors import CellAbort, ConfigError, ManifestMismatch
from atr_client.gateway.seat import Seat
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.session.turns import SessionSettings
from atr_data.calls import SessionStart, read_calls
from atr_data.trajectory import Message
from tests.support.cells import small_episode
from tests.support.gateway import (
    asker,
    connected,
    desk_of,
    in_process,
    manifest_of,
    passes,
    played,
    running,
    scored,
    write_episode,
)
from tests.support.mcp_player import McpPlayer


class Dies(Exception):
    pass


class Mortal:
    """The asker, until it has replied so many times."""

    def __init__(self, replies: int) -> None:
        self._left = replies

    async def respond(self, messages: list[Message], tools: list[ToolSpec]) -> ModelReply:
        if not self._left:
            raise Dies
        self._left -= 1
        return await asker().respond(messages, tools)


async def until_death(client: Any, replies: int) -> None:
    with pytest.raises(Dies):
        await McpPlayer(client, Mortal(replies)).play()  # pyright: ignore[reportArgumentType]


async def test_after_the_server_died_the_same_command_goes_on(tmp_path: Path) -> None:
    for replies in (40, 60):
        async with running(desk_of(tmp_path)) as seat, connected(seat) as client:
            await until_death(client, replies)
    desk = desk_of(tmp_path)
    async with running(desk) as seat, connected(seat) as client:
        player = McpPlayer(client, asker())
        await player.play()
    assert len(player.sessions) < 42
    assert passes(scored(desk)) == await in_process("atr")
    manifest = manifest_of(desk)
    assert manifest["complete"]
    assert len(manifest["clients"]) == 1
    starts = [r for r in read_calls(desk.cell.folder.calls) if isinstance(r, SessionStart)]
    assert {start.attempt for start in starts} == {1, 2}


async def test_after_the_client_died_another_goes_on_in_the_midst_of_a_session(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target")
    async with running(desk) as seat:
        async with connected(seat) as client:
            await until_death(client, 1)
        async with connected(seat) as client:
            player = McpPlayer(client, asker())
            await client.list_tools()
            refused = await player.ask("next_session")
            assert "still running" in refused["error"]
            status = await player.ask("session_status", conversation=True)
            messages = transcript(status)
            tools = {tool.name: tool for tool in await player.tools()}
            while not await player.take_turn(messages, [tools[name] for name in status["tools"]]):
                pass
            await player.play()
    assert passes(scored(desk)) == await in_process("oracle_target")


def transcript(status: dict[str, Any]) -> list[Message]:
    """What the status tells, as messages."""
    from atr_data.trajectory import ToolCall

    messages = [Message(role="system", content=status["instructions"])]
    for turn, said in enumerate(status["conversation"], start=1):
        match said:
            case {"you": calls}:
                made = [ToolCall(id=f"c{turn}", name=c["tool"], arguments=c["arguments"]) for c in calls]
                messages.append(Message(role="assistant", tool_calls=made, turn_idx=turn))
            case {"result": text}:
                messages.append(
                    Message(role="tool", content=text, tool_call_id=f"c{turn - 1}", turn_idx=turn)
                )
            case _:
                messages.append(Message(role="user", content=said["user"], turn_idx=turn))
    return messages


async def test_a_call_whose_client_gave_up_counts_and_the_next_one_is_answered(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target")
    async with running(desk) as seat:
        await seat.call("next_session", {})
        with anyio.CancelScope() as scope:
            scope.cancel()
            await seat.call("get_user_confirmation", {})
        told = await seat.call("finish_session", {})
    assert json.loads(told.texts[0]) == {"status": "session_ended"}
    assert json.loads(told.texts[1])["session"] == "over"


@pytest.mark.parametrize("mode", ["learn", "test"])
async def test_learning_and_testing_may_be_two_plays(tmp_path: Path, mode: str) -> None:
    path = write_episode(tmp_path, small_episode())
    learning = desk_of(tmp_path, episode=path, mode="learn")
    if mode == "test":
        with pytest.raises(ConfigError, match="3 of 3 learning sessions"):
            desk_of(tmp_path, episode=path, mode="test")
    async with running(learning) as seat, connected(seat) as client:
        player = McpPlayer(client, Polite())
        await player.play()
        assert player.sessions == ["learning 1", "learning 2", "learning 3"]
        assert "learning part is over" in player.raw[-1]
    assert not manifest_of(learning)["complete"]
    testing = desk_of(tmp_path, episode=path, mode="test")
    async with running(testing) as seat, connected(seat) as client:
        player = McpPlayer(client, Polite())
        await player.play()
    assert player.sessions == ["test 1", "test 2"]
    assert manifest_of(testing)["complete"]


class Polite:
    """Takes its leave, or finishes, at once."""

    async def respond(self, messages: Any, tools: Any) -> ModelReply:
        from atr_data.trajectory import ToolCall

        if any(tool.name == "finish_session" for tool in tools):
            return ModelReply(tool_calls=[ToolCall(id="c", name="finish_session")])
        said = {"output": "Goodbye, that is all done.", "reason": "done"}
        return ModelReply(tool_calls=[ToolCall(id="c", name="send_to_user", arguments=said)])


async def test_steps_are_counted_and_their_end_is_told(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target", settings=SessionSettings(max_steps=2))
    async with running(desk) as seat:
        begun = json.loads((await seat.call("next_session", {})).texts[0])
        assert begun["steps_left"] == 2
        first = await seat.call("get_user_confirmation", {"target_tool": "x", "target_params": {}})
        assert len(first.texts) == 1
        last = await seat.call("get_user_confirmation", {"target_tool": "x", "target_params": {}})
        assert (
            json.loads(last.texts[1])["next"] == "test 1 is over (its steps are used up); call next_session"
        )
        late = await seat.call("finish_session", {})
        assert late.is_error
        assert json.loads((await seat.call("next_session", {})).texts[0])["session"] == "test 2"
    (trajectory,) = played(desk)
    assert (trajectory.termination_reason, trajectory.step_count) == ("max_steps", 2)


async def test_time_runs_while_the_agent_thinks(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target", settings=SessionSettings(timeout=0.3))
    async with running(desk) as seat:
        await anyio.sleep(0.4)
        begun = json.loads((await seat.call("next_session", {})).texts[0])
        assert 0 < begun["seconds_left"] <= 0.3
        with anyio.fail_after(30):
            await desk.tests[0].mailbox.ended()
        late = await seat.call("finish_session", {})
    assert late.is_error
    (trajectory,) = played(desk)
    assert trajectory.termination_reason == "timeout"


async def test_what_breaks_off_leaves_no_result_and_is_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = [CellAbort("user_sim", "l0", "the secret reason")]

    desk = desk_of(tmp_path, episode=write_episode(tmp_path, small_episode()))
    play = EpisodeRunner.__call__

    async def fails_once(runner: EpisodeRunner, session: Any, **given: Any) -> Any:
        if broken:
            raise broken.pop()
        return await play(runner, session, **given)

    monkeypatch.setattr(EpisodeRunner, "__call__", fails_once)
    async with running(desk) as seat:
        told = await seat.call("next_session", {})
        assert told.is_error
        assert "broke off" in told.texts[0]
        assert "secret" not in told.texts[0]
        assert json.loads((await seat.call("next_session", {})).texts[0])["session"] == "learning 1"


async def test_sessions_of_another_run_are_refused(tmp_path: Path) -> None:
    path = write_episode(tmp_path, small_episode())
    async with running(desk_of(tmp_path, episode=path)) as seat:
        await seat.call("next_session", {})
    with pytest.raises(ManifestMismatch, match="max_steps"):
        desk_of(tmp_path, episode=path, settings=SessionSettings(max_steps=5))


async def test_a_session_has_one_player(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "oracle_target")
    first = desk.tests[0].session.session_id
    async with running(desk) as whole:
        alone = Seat(desk, first)
        assert json.loads((await alone.call("next_session", {})).texts[0])["session"] == "test 1"
        assert json.loads((await whole.call("next_session", {})).texts[0])["session"] == "test 2"
        other = Seat(desk, first)
        told = json.loads((await other.call("next_session", {})).texts[0])
        assert told["session"] is None
