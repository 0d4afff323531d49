"""Help episodes: the self-help events that a need brings, laid between ordinary events that do not move."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from random import Random

from atr_data.timing.events import WorkEvent
from atr_data.timing.gold import Need
from atr_datagen.timing.base import Base
from atr_datagen.timing.clock import FIRST_DAY
from atr_datagen.timing.draws import geometric, in_turn, lognormal, opaque, stream_of_chance
from atr_datagen.timing.settings import Settings

LONGEST = 60
_TIGHTEST = 4.0
"""Seconds between two self-help events at the least."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Seconds since the first day: ordinary events, and when the break after each block ends."""

    steps: tuple[float, ...]
    breaks: dict[int, float]

    @classmethod
    def of(cls, base: Base) -> Timeline:
        steps = tuple(seconds(event) for event in base.events)
        return cls(
            steps, {last - 1: until for (_, last), until in zip(base.blocks, base.free_until, strict=True)}
        )


def seconds(event: WorkEvent) -> float:
    return (event.t_release - FIRST_DAY).total_seconds()


def lay_episodes(
    timeline: Timeline, needs: Sequence[Need], settings: Settings, follow: float, draw: int = 0
) -> list[list[float]]:
    """The moments of each need's self-help events. The next need ends an episode that still runs. Another
    `draw` gives other episodes."""
    onsets = [(need.t_onset - FIRST_DAY).total_seconds() for need in needs]
    laid: list[list[float]] = []
    for need, onset, stop in zip(needs, onsets, [*onsets[1:], float("inf")], strict=True):
        random = stream_of_chance(f"episode{draw or ''}", settings.salt, need.need_id)
        laid.append(_episode(timeline, onset, stop, settings, follow, random))
    return laid


def _episode(
    timeline: Timeline, onset: float, stop: float, settings: Settings, follow: float, random: Random
) -> list[float]:
    left = min(LONGEST, geometric(random, follow))
    found: list[float] = []
    at, index = onset, bisect_right(timeline.steps, onset) - 1
    while left > 0 and index < len(timeline.steps):
        breaks_off = timeline.breaks.get(index)
        until = breaks_off if breaks_off is not None else timeline.steps[index + 1]
        until = min(until, stop) - 2
        if breaks_off is not None:
            while left > 0 and at <= until:
                found.append(at)
                left -= 1
                at += lognormal(random, 38, 1.0, _TIGHTEST, 900)
        else:
            run = geometric(random, 1 / settings.back_to_work)
            run = min(run, left, int((until - at) // _TIGHTEST) + 1 if until >= at else 0)
            if at == onset and run < 1:
                run = 1
            pace = max(_TIGHTEST, (until - at) / max(1, run))
            found.extend(at + pace * i * random.uniform(0.82, 1.0) for i in range(run))
            left -= run
        index += 1
        if index >= len(timeline.steps) or timeline.steps[index] >= stop:
            break
        following = (
            timeline.steps[index + 1] if index + 1 < len(timeline.steps) else timeline.steps[index] + 40
        )
        at = timeline.steps[index] + random.uniform(0.25, 0.5) * min(40.0, following - timeline.steps[index])
    return sorted({float(round(moment)) for moment in found})


def render_episode(base: Base, settings: Settings, need: Need, moments: Sequence[float]) -> list[WorkEvent]:
    """The first event asks the need's own query, the others follow it up: first with what belongs to the
    scene, then with what fits after any answer."""
    random = stream_of_chance("follow-up", settings.salt, need.need_id)
    staged = base.staged.get(need.scene_id or "")
    general = in_turn(random, base.walk.chronicle.follow)
    later = (base.walk.said(question, base.day_at(need.t_onset)) for question in general)
    queries = chain([need.query or ""], staged.plot.more if staged else (), later)
    return [
        _ask(base, settings, need, number, at, query)
        for number, (at, query) in enumerate(zip(moments, queries, strict=False))
    ]


def _ask(base: Base, settings: Settings, need: Need, number: int, at: float, query: str) -> WorkEvent:
    begins = FIRST_DAY + timedelta(seconds=at)
    return WorkEvent(
        event_id=f"{base.user_id}-h{opaque(settings.salt, need.need_id, number)}",
        user_id=base.user_id,
        t_start=begins,
        t_end=begins + timedelta(seconds=3),
        t_release=begins,
        app=base.desk.apps["browser"],
        window_title=f"{base.desk.assistant} - {base.desk.apps['browser']}",
        app_category="browser",
        summary=f"asks the assistant: {query}"[:200],
        self_help=True,
    )
