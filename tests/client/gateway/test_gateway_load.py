"""Many episodes at once over HTTP, each with markers of its own."""

from __future__ import annotations

import gc
import re
from pathlib import Path

import anyio
import pytest

from atr_client.gateway.desk import Desk
from atr_data.episode import Episode
from atr_data.trajectory import Message, Trajectory
from tests.support.gateway import EPISODE, asker, desk_of, hosting, over_http, passes, scored
from tests.support.mcp_player import McpPlayer
from tests.support.planted import planted
from tests.support.telling import tell_at_gateways

EPISODES = 64
SESSIONS = 4
LAST_TURN = 3
"""Messages: a reply, its result, and what the user said to it."""
ERAS = ("auto", "legacy")
MARK = re.compile(r"M(\d+)M-(GOLD|ANSWER)", re.I)


def episode_with_marks(number: int) -> Episode:
    """Two learning and two test sessions of an episode marked `M<number>M`."""
    episode = planted(EPISODE, f"M{number}M")
    return episode.model_copy(
        update={
            "learning_sessions": episode.ordered_learning_sessions()[4:6],
            "test_sessions": episode.test_sessions[:2],
        }
    )


def desk_with_marks(folder: Path, number: int) -> Desk:
    path = folder / f"episode{number}.json"
    path.write_text(episode_with_marks(number).model_dump_json(), encoding="utf-8")
    return desk_of(folder / f"outputs{number}", "always_ask", path)


def kept_in_memory() -> int:
    """Messages of sessions with marks. Fails for a whole transcript: that is on disk."""
    gc.collect()
    kept = gc.get_objects()
    assert not [one for one in kept if isinstance(one, Trajectory) and MARK.search(one.session_id)]
    return sum(isinstance(one, Message) for one in kept)


async def test_64_episodes_at_once_keep_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tell_at_gateways(monkeypatch)
    desks = [desk_with_marks(tmp_path, number) for number in range(EPISODES)]
    heard: dict[int, str] = {}
    async with hosting(desks) as (http, addresses):

        async def play(number: int) -> None:
            async with over_http(http, addresses[number][""], ERAS[number % 2]) as client:
                player = McpPlayer(client, asker())
                await player.play()
            assert len(player.sessions) == SESSIONS
            heard[number] = "\n".join(player.raw)

        async with anyio.create_task_group() as tasks:
            for number in range(EPISODES):
                tasks.start_soon(play, number)
        for desk in desks:
            await desk.scored()
        assert kept_in_memory() <= EPISODES * SESSIONS * LAST_TURN
    marks = {number: {(int(n), kind) for n, kind in MARK.findall(text)} for number, text in heard.items()}
    assert all(found <= {(number, "ANSWER")} for number, found in marks.items())
    assert any(marks.values())
    assert len({tuple(passes(scored(desk)).values()) for desk in desks}) == 1
