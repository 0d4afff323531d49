"""No byte that the workstream server can emit comes from gold."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from mcp import Client

from atr_data.timing.priors import count_priors
from atr_servers.workstream import build_workstream_server
from tests.support.timing_sets import generated

GOLD_KEYS = (
    "t_cue",
    "t_onset",
    "need_id",
    "scene_id",
    "habit",
    "facts",
    "foils",
    "attributes",
    "salt",
    "t_end",
)


async def everything_said(memory: Literal["off", "search", "priors", "own"]) -> str:
    """Every listing, resource and answer of one sitting played in silence."""
    user = generated(1)[0]
    priors = count_priors(user.stream, user.gold)
    sitting = user.stream.header.sittings[0]
    server = build_workstream_server(user.stream, sitting.sitting_id, memory=memory, priors=priors)
    said: list[Any] = []
    async with Client(server) as client:
        said.append(client.instructions)
        said.extend(tool.model_dump() for tool in (await client.list_tools()).tools)
        for resource in (await client.list_resources()).resources:
            said.append((await client.read_resource(resource.uri)).model_dump())
        answer = (await client.call_tool("start_sitting", {})).structured_content
        while answer and answer["current"]:
            said.append(answer)
            said.append((await client.call_tool("recent", {"seconds": 300})).structured_content)
            if memory == "search":
                query = {"query": answer["current"]["window_title"], "k": 20}
                said.append((await client.call_tool("search_past", query)).structured_content)
            if memory == "priors":
                said.append(
                    (await client.call_tool("habits", {"app": answer["current"]["app"]})).structured_content
                )
            event_id = answer["current"]["event_id"]
            answer = (
                await client.call_tool("assist", {"event_id": event_id, "intent": "coding"})
            ).structured_content
        said.append(answer)
    return json.dumps(said, ensure_ascii=False, default=str)


@pytest.mark.parametrize("memory", ["off", "search", "priors", "own"])
async def test_no_gold_is_ever_said(memory: Literal["off", "search", "priors", "own"]) -> None:
    said = await everything_said(memory)
    user = generated(1)[0]
    assert user.stream.header.sittings[0].first_event in said
    for key in GOLD_KEYS:
        assert f'"{key}"' not in said, key
    for need in user.gold.needs:
        assert need.need_id not in said
        assert need.scene_id is None or need.scene_id not in said
    for scene in user.gold.scenes:
        assert scene.scene_id not in said
        assert f'"{scene.kind}"' not in said
    for habit in user.gold.habits:
        assert habit.habit_id not in said
    assert user.gold.header.sha256 not in said
    assert str(user.gold.header.salt) not in said


@pytest.mark.parametrize("memory", ["off", "search", "own"])
async def test_what_is_said_before_the_first_onset_is_the_same_under_every_salt(memory: str) -> None:
    """The events of the sitting that are not self-help are said in the same words whatever is wanted."""
    texts: list[list[Any]] = []
    for salt in ("one", "two"):
        user = generated(1, salt)[0]
        sitting = user.stream.header.sittings[0]
        server = build_workstream_server(user.stream, sitting.sitting_id, memory=memory)  # pyright: ignore
        said: list[Any] = []
        async with Client(server) as client:
            answer = (await client.call_tool("start_sitting", {})).structured_content
            while answer and answer["current"]:
                said.append(answer["current"])
                arguments = {"event_id": answer["current"]["event_id"]}
                answer = (await client.call_tool("stay_silent", arguments)).structured_content
        texts.append(said)
    assert texts[0] == texts[1]


async def test_a_future_query_is_not_said_before_its_onset() -> None:
    user, sitting, wish = next(
        (user, sitting, need)
        for user in generated(2)
        for sitting in user.stream.header.sittings
        for need in user.gold.needs
        if need.query and user.stream.events_of(sitting)[3].t_release < need.t_onset <= sitting.t_end
    )
    server = build_workstream_server(user.stream, sitting.sitting_id, memory="search")
    async with Client(server) as client:
        answer = (await client.call_tool("start_sitting", {})).structured_content
        while answer and answer["current"] and answer["current"]["time"] < wish.t_onset.isoformat():
            found = await client.call_tool("search_past", {"query": wish.query, "k": 20})
            asked = [
                one["summary"]
                for one in (found.structured_content or {})["events"]
                if one["time"] >= wish.t_onset.isoformat()
            ]
            assert not asked
            arguments = {"event_id": answer["current"]["event_id"]}
            answer = (await client.call_tool("stay_silent", arguments)).structured_content
