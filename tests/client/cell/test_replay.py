"""Logged calls played again: what a fresh environment must give, and what is said where it gives another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atr_client import play_episode
from atr_client.cell.replay import Replayed, replay
from atr_client.models.base import ModelReply
from atr_client.testing import FunctionModel
from atr_data import Episode
from atr_data.calls import CallRecord, read_calls
from atr_data.trajectory import ToolCall, Trajectory
from atr_evaluator.agent_calls import Attempt, finished_attempts
from tests.support.cells import small_episode

FILE = {"id": "fil_1", "type": "file", "attributes": {"name": "scan.pdf", "file_type": "pdf"}}


def works(messages: Any, tools: Any) -> ModelReply:
    """In a test deletes a file, one that there is not, and in a way that nobody can read; then ends."""
    end = next(tool.name for tool in tools if tool.name in ("send_to_user", "finish_session"))
    said = {"output": "Goodbye.", "reason": "r"} if end == "send_to_user" else {}
    if end == "send_to_user" or any(message.role == "tool" for message in messages):
        return ModelReply(tool_calls=[ToolCall(id="e", name=end, arguments=said)])
    return ModelReply(
        tool_calls=[
            ToolCall(id="a", name="delete_files", arguments={"file_ids": ["fil_1"]}),
            ToolCall(id="b", name="delete_files", arguments={"file_ids": ["fil_9"]}),
            ToolCall(id="c", name="delete_files", parse_error="no JSON"),
        ]
    )


@pytest.fixture
async def played(tmp_path: Path) -> tuple[Episode, dict[str, Attempt], dict[str, Trajectory]]:
    document = small_episode(learning=1, tests=2).model_dump(mode="json")
    for session in document["test_sessions"]:
        session["local_env"] |= {"tools": ["delete_files"], "references": [FILE]}
    episode = Episode.model_validate(document)
    log = tmp_path / "calls.jsonl"
    result = await play_episode(episode, "default", FunctionModel(works), log=log)
    attempts = finished_attempts(read_calls(log))
    return episode, attempts, {one.session_id: one for one in result.trajectories}


Played = tuple[Episode, dict[str, Attempt], dict[str, Trajectory]]


def changed(attempts: dict[str, Attempt], number: int, **fields: Any) -> dict[str, Attempt]:
    """The log with one call of `t0` changed."""
    calls = list(attempts["t0"].calls)
    calls[number] = calls[number].model_copy(update=fields)
    return {**attempts, "t0": replace(attempts["t0"], calls=calls)}


async def test_a_log_as_it_was_written_is_what_a_fresh_environment_gives(played: Played) -> None:
    episode, attempts, trajectories = played
    assert [call.is_error for call in attempts["t0"].calls] == [False, True, True]
    assert await replay(episode, attempts, trajectories) == Replayed([], 6, 0)
    elsewhere = changed(attempts, 0, server="memory")
    found = await replay(episode, elsewhere, trajectories)
    assert (found.differences, found.calls, found.left_out) == ([], 5, 1)


CHANGES: dict[str, tuple[Callable[[dict[str, Attempt]], dict[str, Attempt]], list[str], int]] = {
    "result": (
        lambda log: changed(log, 0, result="{}"),
        ["t0: call 1 (delete_files) gives another result"],
        4,
    ),
    "error": (
        lambda log: changed(log, 1, is_error=False),
        ["t0: call 2 (delete_files) gives another result"],
        5,
    ),
    "arguments": (
        lambda log: changed(log, 1, arguments={"file_ids": ["fil_1"]}),
        ["t0: call 2 (delete_files) gives another result"],
        5,
    ),
    "unreadable": (
        lambda log: changed(log, 2, result='{"error": "other"}'),
        ["t0: call 3 (delete_files) gives another result"],
        6,
    ),
    "no such session": (lambda log: {"ghost": log["t0"]}, ["ghost: the episode has no such session"], 0),
    "one call less": (
        lambda log: {**log, "t0": replace(log["t0"], calls=log["t0"].calls[:1])},
        [],
        4,
    ),
}


@pytest.mark.parametrize(("change", "told", "calls"), CHANGES.values(), ids=CHANGES)
async def test_the_first_difference_of_each_session_is_told(
    played: Played,
    change: Callable[[dict[str, Attempt]], dict[str, Attempt]],
    told: list[str],
    calls: int,
) -> None:
    episode, attempts, trajectories = played
    found = await replay(episode, change(attempts), trajectories)
    assert (found.differences, found.calls) == (told, calls)


async def test_without_its_transcript_nobody_knows_that_a_call_could_not_be_read(played: Played) -> None:
    episode, attempts, _ = played
    found = await replay(episode, {"t1": attempts["t1"]}, {})
    assert found.differences == ["t1: call 3 (delete_files) gives another result"]


async def test_an_environment_that_cannot_be_built_is_told(played: Played) -> None:
    episode, attempts, trajectories = played
    lost = episode.test_sessions[0].model_copy(update={"domain": "nowhere"})
    episode = episode.model_copy(update={"test_sessions": [lost, episode.test_sessions[1]]})
    found = await replay(episode, attempts, trajectories)
    (told,) = found.differences
    assert told.startswith("t0: ") and "nowhere" in told
    assert found.calls == 3
    assert all(isinstance(call, CallRecord) for call in attempts["t0"].calls)
