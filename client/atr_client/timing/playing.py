"""Plays choosers through the workstream server, as any agent would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from mcp import Client

from atr_client.timing.choosers.chooser import Chooser, Seen, User, served_event
from atr_data.timing.decisions import Assist, SittingLog
from atr_data.timing.events import Sitting
from atr_data.timing.priors import Priors
from atr_evaluator.timing import UserPlay
from atr_servers.timing.sitting import MemoryMode
from atr_servers.timing.tools import DEFAULT_WINDOW, Workstream
from atr_servers.workstream import serve_workstream


async def play_user(
    chooser: Chooser,
    user: User,
    *,
    memory: MemoryMode = "off",
    history_window_s: int = DEFAULT_WINDOW,
    priors: Priors | None = None,
) -> UserPlay:
    """All sittings of a user, one server for each."""
    logs: list[SittingLog] = []
    for sitting in user.stream.header.sittings:
        workstream = Workstream(
            user.stream,
            sitting.sitting_id,
            memory=memory,
            history_window_s=history_window_s,
            priors=priors,
        )
        async with Client(serve_workstream(workstream)) as client:
            await _play_sitting(chooser, user, sitting, client)
        logs.append(workstream.state.log())
    return UserPlay(user.stream, user.gold, tuple(logs))


async def _play_sitting(chooser: Chooser, user: User, sitting: Sitting, client: Client) -> None:
    chooser.begin(user, sitting)
    seen: list[Seen] = []
    answer = await _call(client, "start_sitting", {})
    seen.extend(served_event(fields) for fields in answer["passed"])
    while answer["current"] is not None:
        event = served_event(answer["current"])
        offer = chooser.decide(event, seen)
        answer = await _decide(client, event, offer)
        seen.append(event)
        seen.extend(served_event(fields) for fields in answer["passed"])


async def _decide(client: Client, event: Seen, offer: Assist | None) -> Mapping[str, Any]:
    if offer is None:
        return await _call(client, "stay_silent", {"event_id": event.event_id})
    arguments = {"event_id": event.event_id, "intent": "uncategorized", **offer.model_dump(exclude_none=True)}
    return await _call(client, "assist", arguments)


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
    result = await client.call_tool(tool, arguments)
    answer = cast("dict[str, Any]", result.structured_content)
    if result.is_error:
        raise RuntimeError(f"{tool}: {answer['code']}: {answer['message']}")
    return answer
