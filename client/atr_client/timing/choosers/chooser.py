"""What every chooser knows and does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from atr_data.timing.decisions import Assist
from atr_data.timing.events import Sitting, Stream, WorkEvent
from atr_data.timing.gold import Gold


@dataclass(frozen=True, slots=True)
class Seen:
    """An event as the server shows it; `at` in seconds."""

    event_id: str
    at: float
    app: str
    category: str
    title: str
    summary: str
    text: str
    target: str | None
    self_help: bool


def seen_event(event: WorkEvent) -> Seen:
    """What an agent would have seen of an event."""
    return Seen(
        event.event_id,
        event.t_release.timestamp(),
        event.app,
        event.app_category,
        event.window_title,
        event.summary or "",
        event.screen_text or "",
        event.target,
        event.self_help,
    )


def served_event(fields: Mapping[str, Any]) -> Seen:
    """An event from a server's answer."""
    return Seen(
        fields["event_id"],
        datetime.fromisoformat(fields["time"]).timestamp(),
        fields["app"],
        fields["app_category"],
        fields["window_title"],
        fields.get("summary", ""),
        fields.get("screen_text", ""),
        fields.get("target"),
        fields.get("self_help", False),
    )


@dataclass(frozen=True, slots=True)
class User:
    """One user's files. A chooser may learn from the days before evaluation only, and those that say so from
    the gold of the days played: readers its scene labels, the oracle its needs."""

    stream: Stream
    gold: Gold

    @property
    def user_id(self) -> str:
        return self.stream.header.user_id

    @property
    def evaluation_start(self) -> float:
        return self.stream.header.first_evaluation_day.timestamp()

    def history(self) -> list[WorkEvent]:
        start = self.stream.header.first_evaluation_day
        return [event for event in self.stream.events if event.t_release < start]


class Chooser(Protocol):
    """Plays sittings one after the other."""

    def begin(self, user: User, sitting: Sitting) -> None:
        """The context is cleared; what was studied of the user stays."""
        ...

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        """What to offer at an event, None for silence. `seen` are the sitting's events before it."""
        ...
