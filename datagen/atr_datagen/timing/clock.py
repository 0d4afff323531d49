"""When a user is at the desk: days, blocks of steps, pauses, lunch and meetings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from atr_datagen.timing.draws import lognormal
from atr_datagen.timing.settings import Settings

FIRST_DAY = datetime(2031, 3, 3, tzinfo=UTC)
"""A Monday."""

_HOUR = 3600.0
_LONGEST_BLOCK, _SHORTEST_BLOCK = 40, 4


@dataclass(slots=True)
class Block:
    """Moments of its steps, in seconds since the first day's midnight, and the moment at which the next block
    may begin. A meeting has one long first step."""

    day: int
    steps: list[float]
    free_until: float
    meeting: bool = False


def midnight(day: int) -> float:
    """Seconds from the first day to the day-th working day, counted from 1."""
    week, weekday = divmod(day - 1, 5)
    return (week * 7 + weekday) * 24 * _HOUR


def moment(seconds: float) -> datetime:
    """Whole seconds, in UTC."""
    return FIRST_DAY + timedelta(seconds=round(seconds))


def working_days(random: Random, settings: Settings) -> list[Block]:
    """All blocks of a user, in order."""
    if settings.process == "regular":
        return _regular(random, settings)
    blocks: list[Block] = []
    for day in range(1, settings.days + 1):
        start = midnight(day) + 9 * _HOUR + random.gauss(0, 0.5 * _HOUR)
        blocks.extend(_day(random, settings, day, start))
    return blocks


def _day(random: Random, settings: Settings, day: int, start: float) -> list[Block]:
    blocks: list[Block] = []
    at, worked, lunch = start, 0.0, midnight(day) + random.gauss(12.5, 0.4) * _HOUR
    meetings = sorted(
        midnight(day) + random.uniform(9.5, 16.5) * _HOUR for _ in range(random.choice((0, 1, 1, 2)))
    )
    while worked < settings.active_hours * _HOUR:
        meets = bool(meetings) and at > meetings[0]
        steps = _steps(random, at, 38.0, 1.0)
        if meets:
            meetings.pop(0)
            length = random.choice((600, 900, 1500, 1800, 2700))
            steps = [at, *(step + length for step in steps[1:4])]
        pause = lognormal(random, 240, 0.9, 120, 2 * _HOUR)
        if at > lunch:
            lunch, pause = float("inf"), random.uniform(25, 60) * 60
        blocks.append(Block(day, steps, steps[-1] + pause, meets))
        worked += 0 if meets else steps[-1] - steps[0] + 38
        at = steps[-1] + pause
    return blocks


def _steps(random: Random, at: float, median: float, sigma: float) -> list[float]:
    number = min(_LONGEST_BLOCK, max(_SHORTEST_BLOCK, int(3 * random.paretovariate(1.5))))
    steps = [at]
    while len(steps) < number:
        steps.append(steps[-1] + lognormal(random, median, sigma, 3, 900))
    return steps


def _regular(random: Random, settings: Settings) -> list[Block]:
    """Without nights: the process of regular use."""
    blocks: list[Block] = []
    at = 9 * _HOUR
    for day in range(1, settings.days + 1):
        worked = 0.0
        while worked < settings.active_hours * _HOUR:
            steps = _steps(random, at, 38.0, 0.3)
            blocks.append(Block(day, steps, steps[-1] + 60))
            worked += steps[-1] - steps[0] + 38
            at = steps[-1] + 60
    return blocks
