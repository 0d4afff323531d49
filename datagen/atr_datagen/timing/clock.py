"""When a user is at the desk: days, blocks of steps, pauses and lunch, laid over the days of a chronicle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random

from atr_datagen.timing.chronicle import Day, Line
from atr_datagen.timing.draws import lognormal
from atr_datagen.timing.settings import Settings

FIRST_DAY = datetime(2031, 3, 3, tzinfo=UTC)
"""A Monday."""

_HOUR = 3600.0
_LONGEST_BLOCK, _SHORTEST_BLOCK = 40, 4
_LUNCH, _DRAWN = 12.25 * _HOUR, 6
_NO_REST = 3
"""How many events a block rather ends sooner or later than where nobody would leave the desk."""

_WORDS_OF_ANY, _REMARK_WORDS, _LONG, _TOIL_SIGMA = 2, 9, 6, 0.45
"""How long an event takes goes with what is said of it: words that count for every event, words of a remark
whichever it will be, how many times as much a long one counts, and how much chance there is in it."""

_SCENE_ROOM = 14.0
"""Seconds between a scene's last event and the next scene, at the least."""


@dataclass(slots=True)
class Block:
    """The events of a day from the one at `first`: their moments, in seconds since the first day's midnight,
    and the moment at which the next block may begin."""

    day: int
    first: int
    steps: list[float]
    free_until: float


def midnight(day: int) -> float:
    """Seconds from the first day to the day-th working day, counted from 1."""
    week, weekday = divmod(day - 1, 5)
    return (week * 7 + weekday) * 24 * _HOUR


def moment(seconds: float) -> datetime:
    """Whole seconds, in UTC."""
    return FIRST_DAY + timedelta(seconds=round(seconds))


def working_days(random: Random, settings: Settings, days: Sequence[Day]) -> list[Block]:
    """All blocks of a user, in order; `days` are what happens on each. Of a few drawings of a day that one
    counts in which lunch is nearest to noon, as texts have it. The process of regular use knows no nights."""
    regular = settings.process == "regular"
    blocks: list[Block] = []
    at = 9 * _HOUR
    for number, day in enumerate(days, start=1):
        if regular:
            blocks.extend(_day(random, number, day, at, regular=True))
            at = blocks[-1].free_until
            continue
        start = midnight(number) + 9 * _HOUR + random.gauss(0, 0.5 * _HOUR)
        drawn = [_day(random, number, day, start) for _ in range(_DRAWN)]
        noon = midnight(number) + _LUNCH
        blocks.extend(min(drawn, key=lambda one: abs(_lunch(one, day) - noon)))
    return blocks


def _lunch(blocks: Sequence[Block], day: Day) -> float:
    """When the last block before lunch ends; of a day without lunch, the first."""
    before = [block.steps[-1] for block in blocks if block.first < (day.lunch or 1)]
    return before[-1]


def _day(random: Random, number: int, day: Day, at: float, *, regular: bool = False) -> list[Block]:
    blocks: list[Block] = []
    for first, last in _ranges(random, day):
        gaps = _gaps(random, day, first, last, 0.3 if regular else 1.0)
        steps = list(accumulate(gaps[:-1], initial=at))
        pause = 60.0 if regular else lognormal(random, 240, 0.9, 120, 2 * _HOUR)
        if last == day.lunch and not regular:
            pause = random.uniform(25, 60) * 60
        at = steps[-1] + max(pause, gaps[-1])
        blocks.append(Block(number, first, steps, at))
    return blocks


def _ranges(random: Random, day: Day) -> Iterator[tuple[int, int]]:
    """Where blocks begin and end: best where one may leave the desk, never in a scene, always at lunch."""
    inside = {place for plot in day.plots for place in range(plot.first + 1, plot.last + 1)}
    first = 0
    for stop in sorted({day.lunch or len(day.lines), len(day.lines)}):
        while first < stop:
            wanted = first + min(_LONGEST_BLOCK, max(_SHORTEST_BLOCK, int(3 * random.paretovariate(1.5))))
            ends = [n for n in range(first + 1, min(stop, first + _LONGEST_BLOCK) + 1) if n not in inside]
            last = min(ends, key=lambda n: abs(n - wanted) + _NO_REST * (n != stop and n not in day.rests))
            yield first, last
            first = last


def _toil(line: Line) -> float:
    """How long an event might take, in no unit: who has more to say of it was longer at it."""
    words = len(line.said.split()) + _REMARK_WORDS * len(line.remarks)
    return (_WORDS_OF_ANY + words) * (_LONG if line.long else 1)


def _gaps(random: Random, day: Day, first: int, last: int, sigma: float) -> list[float]:
    """Seconds from each event of a block to the next, the last one's own included: the longer ones of those
    that were drawn rather go to events that take long. A meeting has its own length."""
    lines = day.lines[first:last]
    drawn = sorted(lognormal(random, 38.0, sigma, 3, 900) for _ in lines)
    toil = [_toil(line) * lognormal(random, 1.0, _TOIL_SIGMA, 0.1, 10) for line in lines]
    gaps = [0.0] * len(lines)
    for gap, place in zip(drawn, sorted(range(len(lines)), key=lambda n: toil[n]), strict=True):
        gaps[place] = gap
    for place, line in enumerate(lines):
        if line.category == "meeting" and (place == 0 or lines[place - 1].category != "meeting"):
            run = place
            while run < len(lines) and lines[run].category == "meeting":
                run += 1
            parts = [random.uniform(0.5, 1.5) for _ in range(place, run)]
            length = random.uniform(10, 45) * 60
            gaps[place:run] = [length * part / sum(parts) for part in parts]
    for one, following in zip(day.plots, day.plots[1:], strict=False):
        if first <= one.last and following.first < last:
            room = sum(gaps[one.last - first : following.first - first])
            gaps[one.last - first] += max(0.0, _SCENE_ROOM - room)
    return gaps
