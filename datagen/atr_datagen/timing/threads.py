"""Threads of ordinary work: a matter that is taken up, waits, comes back and is done with.

A thread is a few steps, each at home in certain applications. Several are open at a time, and the
application in front decides which of them goes on: so a day hangs together and no application has a larger
share of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import cast, get_args

from atr_data.timing.events import AppCategory
from atr_data.timing.faults import TimingError
from atr_datagen.timing.windows import About

OPTIONAL, ALTERNATIVE = "?", "//"
_BEGIN, _GO_ON, _SKIP = 0.85, 0.9, 0.25
_OPEN_AT_MOST, _FORGOTTEN_AFTER, _NOT_AGAIN_WITHIN = 5, 60, 60
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a thread, in one of several wordings. An optional one may be left out."""

    categories: frozenset[AppCategory]
    wordings: tuple[str, ...]
    optional: bool


@dataclass(frozen=True, slots=True)
class Thread:
    name: str
    steps: tuple[Step, ...]


def read_threads(sections: Mapping[str, Sequence[str]]) -> tuple[Thread, ...]:
    """Lines are `[?] CATEGORY [CATEGORY...]: WORDING [// WORDING...]`. Raises TimingError `bad_config`."""
    return tuple(Thread(name, tuple(_step(name, line) for line in lines)) for name, lines in sections.items())


def _step(name: str, line: str) -> Step:
    places, _, text = line.partition(":")
    categories = places.replace(OPTIONAL, " ").split()
    if not categories or not set(categories) <= set(get_args(AppCategory)) or not text.strip():
        raise TimingError(
            "bad_config", f"threads, [{name}]: {line!a:.60} names no application or says nothing"
        )
    return Step(
        frozenset(cast("list[AppCategory]", categories)),
        tuple(wording.strip() for wording in text.split(ALTERNATIVE)),
        places.strip().startswith(OPTIONAL),
    )


@dataclass(slots=True)
class Running:
    """A thread that was begun. `matter` is what it is about and stays the same; `words` fill the wordings."""

    thread: Thread
    matter: About
    words: dict[str, str]
    done: int
    touched: int


@dataclass(slots=True)
class Loom:
    """The threads that one user has in hand, the last one touched at the end."""

    threads: Sequence[Thread]
    open: list[Running] = field(default_factory=lambda: list[Running]())
    lately: deque[str] = field(default_factory=lambda: deque[str](maxlen=_NOT_AGAIN_WITHIN))
    turn: int = 0

    def follows(self, random: Random, shares: Mapping[AppCategory, int]) -> tuple[Running, Step] | None:
        """The next step of the thread touched last, if the user has an application for it at all."""
        self._tick()
        for running in self.open[-1:]:
            for place in range(running.done, len(running.thread.steps)):
                step = running.thread.steps[place]
                if step.categories & shares.keys() and not (step.optional and random.random() < _SKIP):
                    return running, self._take(running, place)
        return None

    def goes_on(self, random: Random, category: AppCategory) -> tuple[Running, Step] | None:
        """The next step of an open thread that has something to do in such an application."""
        self._tick()
        for running in reversed(self.open):
            place = self._next(random, running, category)
            if place is not None and random.random() < _GO_ON:
                return running, self._take(running, place)
        return None

    def begins(self, random: Random, category: AppCategory) -> Thread | None:
        """A thread to begin with such an application, none that was begun lately."""
        if len(self.open) >= _OPEN_AT_MOST or random.random() >= _BEGIN:
            return None
        fitting = [
            thread
            for thread in self.threads
            if category in thread.steps[0].categories and thread.name not in self.lately
        ]
        return random.choice(fitting) if fitting else None

    def begin(self, thread: Thread, matter: About, words: dict[str, str]) -> tuple[Running, Step]:
        """A thread, open from then on, and its first step."""
        self.lately.append(thread.name)
        running = Running(thread, matter, words, 0, self.turn)
        self.open.append(running)
        return running, self._take(running, 0)

    @staticmethod
    def place(
        random: Random, step: Step, category: AppCategory, shares: Mapping[AppCategory, int]
    ) -> AppCategory:
        """Where a step is done: in the application in front if it can be, else in one that the user uses."""
        if category in step.categories:
            return category
        possible = sorted(step.categories & shares.keys())
        return random.choices(possible, [shares[one] for one in possible])[0]

    def _tick(self) -> None:
        self.turn += 1
        self.open = [one for one in self.open if self.turn - one.touched <= _FORGOTTEN_AFTER]

    def _next(self, random: Random, running: Running, category: AppCategory) -> int | None:
        for place in range(running.done, len(running.thread.steps)):
            step = running.thread.steps[place]
            left_out = step.optional and random.random() < _SKIP
            if category in step.categories and not left_out:
                return place
            if not step.optional:
                return None
        return None

    def _take(self, running: Running, place: int) -> Step:
        running.done, running.touched = place + 1, self.turn
        self.open.remove(running)
        if running.done < len(running.thread.steps):
            self.open.append(running)
        return running.thread.steps[place]


def details(random: Random) -> dict[str, str]:
    """Numbers, days and hours that a thread keeps to."""
    number = random.randint(6, 60)
    return {
        "n": str(number),
        "m": str(random.randint(61, 400)),
        "fewer": str(number - random.randint(1, 4)),
        "big": str(random.randint(88, 99)),
        "day": random.choice(_DAYS),
        "time": f"{random.randint(9, 17)}:{random.choice(('00', '15', '30', '40'))}",
        "room": str(random.randint(1, 40)),
    }
