"""How often help was sought in each application on past days, and for what: counts that a server may tell.

They are counted from gold once, when a set is written, so that no server needs the gold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date

from atr_data.timing.events import Stream, TimingRecord
from atr_data.timing.gold import Gold
from atr_data.timing.intents import Intent


class DayCount(TimingRecord):
    """One application on one day: ordinary events in it, and needs that arose in it, by intent."""

    day: date
    app: str
    events: int
    intents: dict[Intent, int]


class Priors(TimingRecord):
    """All day counts of a user."""

    user_id: str
    counts: tuple[DayCount, ...]


class AppHabit(TimingRecord):
    """`help_rate` is needs per ordinary event; both figures are null or empty without a past."""

    app: str
    events: int
    help_rate: float | None
    intent_shares: dict[Intent, float]


def count_priors(stream: Stream, gold: Gold) -> Priors:
    """Counts per day and application. A need counts for the application last in focus before its onset."""
    ordinary = [event for event in stream.events if not event.self_help]
    events = Counter((event.t_release.date(), event.app) for event in ordinary)
    intents: dict[tuple[date, str], Counter[Intent]] = {}
    position = 0
    for need in gold.needs:
        while position + 1 < len(ordinary) and ordinary[position + 1].t_release < need.t_onset:
            position += 1
        before = ordinary[position]
        if need.intent is not None:
            intents.setdefault((before.t_release.date(), before.app), Counter())[need.intent] += 1
    counts = tuple(
        DayCount(day=day, app=app, events=number, intents=dict(intents.get((day, app), {})))
        for (day, app), number in sorted(events.items())
    )
    return Priors(user_id=stream.header.user_id, counts=counts)


def app_habit(counts: Iterable[DayCount], app: str, before: date) -> AppHabit:
    """What the days strictly before one tell about an application."""
    past = [count for count in counts if count.app == app and count.day < before]
    events = sum(count.events for count in past)
    intents: Counter[Intent] = Counter()
    for count in past:
        intents.update(count.intents)
    needs = sum(intents.values())
    return AppHabit(
        app=app,
        events=events,
        help_rate=round(needs / events, 4) if events else None,
        intent_shares={intent: round(number / needs, 4) for intent, number in sorted(intents.items())},
    )
