"""A chronicle: some days of one job at a desk, event by event, as somebody wrote them by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from atr_data.timing.events import AppCategory
from atr_data.timing.intents import Intent

MARK = re.compile(r"\{([^{}]*)\}")
"""`{urgency}` is where a remark goes, `{0}` or `{-2}` where the name of a weekday does."""

DAY_MARK = re.compile(r"\{(0|[+-][1-9])\}")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong in a file; `line` is 0 for the file as a whole."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of scene: what it states of itself, and what help it may lead to."""

    name: str
    attributes: tuple[str, ...]
    intents: tuple[Intent, ...]


@dataclass(frozen=True, slots=True)
class Person:
    first: str
    last: str
    gender: Literal["f", "m"]


@dataclass(frozen=True, slots=True)
class Line:
    """One event. `number` is its line in the file; a `long` one takes its time."""

    number: int
    category: AppCategory
    title: str
    summary: str
    text: str
    long: bool

    @property
    def said(self) -> str:
        return f"{self.summary} {self.text}".strip()

    @property
    def remarks(self) -> list[str]:
        """The attributes of which a remark stands here."""
        return [mark for mark in MARK.findall(self.said) if mark.isalpha()]


@dataclass(frozen=True, slots=True)
class Plot:
    """A scene: events `first` to `last` of its day. `thing` and `detail` are what help is wanted with, `foil`
    and its detail stand beside them. `asks` has the user's own question for each intent, `more` what would
    follow it. `remarks` goes from attribute and value to two ways in which the scene may state that value."""

    number: int
    kind: str
    thing: str
    detail: str
    foil: str
    foil_detail: str
    target: str
    asks: Mapping[str, str]
    more: tuple[str, ...]
    first: int
    last: int
    remarks: Mapping[tuple[str, str], tuple[str, str]] = field(
        default_factory=lambda: dict[tuple[str, str], tuple[str, str]]()
    )

    @property
    def name(self) -> str:
        """By which the remarks of a chronicle go; no other scene of it has the same."""
        return f"{self.kind} | {self.thing}, {self.detail}"


@dataclass(frozen=True, slots=True)
class Day:
    """One may leave the desk before the events `rests`, and goes to lunch before the event `lunch`."""

    lines: tuple[Line, ...]
    plots: tuple[Plot, ...]
    rests: frozenset[int]
    lunch: int | None


@dataclass(frozen=True, slots=True)
class Chronicle:
    """`loose` are questions that come out of nothing, `follow` what may follow any answer. `staff` are the
    people of the office, `outside` all others."""

    job: str
    role: str
    kinds: tuple[str, ...]
    staff: tuple[Person, ...]
    outside: tuple[Person, ...]
    loose: tuple[tuple[Intent, str], ...]
    follow: tuple[str, ...]
    days: tuple[Day, ...]

    @property
    def plots(self) -> list[Plot]:
        """All its scenes, in order."""
        return [plot for day in self.days for plot in day.plots]

    @property
    def text(self) -> str:
        """All that stands in it."""
        parts = [f"{line.title} {line.said}" for day in self.days for line in day.lines]
        parts += [ask for plot in self.plots for ask in (*plot.asks.values(), *plot.more)]
        parts += [text for plot in self.plots for pair in plot.remarks.values() for text in pair]
        return "\n".join([*parts, *self.follow, *(ask for _, ask in self.loose)])
