"""Plays a chooser on a stream without a server, for gates that play many thousand times.

A test holds that the log is the same as over MCP.
"""

from __future__ import annotations

from atr_client.timing.choosers.chooser import Chooser, Seen, User, seen_event
from atr_data.timing.decisions import Decision, SittingLog
from atr_evaluator.timing import UserPlay


def play_directly(chooser: Chooser, user: User) -> UserPlay:
    """All sittings of a user."""
    header, events = user.stream.header, user.stream.sitting_events()
    logs: list[SittingLog] = []
    for sitting in header.sittings:
        chooser.begin(user, sitting)
        seen: list[Seen] = []
        decisions: list[Decision] = []
        for event in map(seen_event, events[sitting.sitting_id]):
            if not event.self_help:
                decisions.append(Decision(event_id=event.event_id, assist=chooser.decide(event, seen)))
            seen.append(event)
        logs.append(
            SittingLog(
                user_id=header.user_id,
                sitting_id=sitting.sitting_id,
                stream_sha256=header.sha256,
                decisions=tuple(decisions),
            )
        )
    return UserPlay(user.stream, user.gold, tuple(logs))
