"""Reading a chronicle, and the refusal of one that no stream can be made of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast, get_args

from atr_data.reading import read_text
from atr_data.timing.events import AppCategory
from atr_data.timing.faults import TimingError
from atr_data.timing.intents import INTENTS, Intent
from atr_datagen.timing.chronicle import DAY_MARK, MARK, Chronicle, Day, Fault, Kind, Line, Person, Plot
from atr_datagen.timing.windows import in_focus, pages, title_fault

KINDS, SCENE_LINES, REST = 10, (3, 6), 3
_TITLE, _SUMMARY, _TEXT, _QUERY = 90, 150, 260, 160
_DAY_WORDS = re.compile(
    r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|\byesterday\b|\btomorrow\b|\bweekends?\b", re.IGNORECASE
)


def read_chronicle(path: Path, kinds: Mapping[str, Kind]) -> Chronicle:
    """Raises TimingError `bad_config` with the first line that is wrong."""
    found, faults = parse_chronicle(path, kinds)
    if faults:
        first = faults[0]
        raise TimingError("bad_config", first.reason, path=path, line=first.line or None)
    return found


def parse_chronicle(path: Path, kinds: Mapping[str, Kind]) -> tuple[Chronicle, list[Fault]]:
    """The chronicle as far as it can be read, and all that is wrong with its form."""
    reading = _Reading(kinds)
    for number, raw in enumerate(read_text(path).splitlines(), start=1):
        if not raw.lstrip().startswith("#"):
            reading.take(number, raw.strip())
    return reading.whole(), sorted(reading.faults, key=lambda fault: fault.line)


@dataclass(slots=True)
class _Open:
    """A day that is being read."""

    lines: list[Line] = field(default_factory=lambda: list[Line]())
    plots: list[Plot] = field(default_factory=lambda: list[Plot]())
    rests: set[int] = field(default_factory=lambda: set[int]())
    lunch: int | None = None


@dataclass(slots=True)
class _Reading:
    kinds: Mapping[str, Kind]
    faults: list[Fault] = field(default_factory=lambda: list[Fault]())
    head: dict[str, str] = field(default_factory=lambda: dict[str, str]())
    loose: list[tuple[Intent, str]] = field(default_factory=lambda: list[tuple[Intent, str]]())
    follow: list[str] = field(default_factory=lambda: list[str]())
    days: list[_Open] = field(default_factory=lambda: list[_Open]())
    plot: Plot | None = None
    asks: dict[str, str] = field(default_factory=lambda: dict[str, str]())

    def bad(self, line: int, reason: str) -> None:
        self.faults.append(Fault(line, reason))

    def take(self, number: int, line: str) -> None:
        """One line of the file."""
        mark, rest = line[:2], line[2:].strip()
        inside = self.plot is not None
        if inside and (not line or mark in ("==", "--", "<<")):
            self.bad(number, "a scene is closed with >> before a blank line, a day, lunch or another scene")
            self.plot = None
        if mark == "??":
            intent, _, text = rest.partition(":")
            self.loose.append((self._intent(number, intent.strip()), text.strip()))
        elif mark == "++":
            self.follow.append(rest)
        elif mark == "==":
            self.days.append(_Open())
        elif not self.days:
            key, colon, value = line.partition(":")
            if line and not colon:
                self.bad(number, "before the first '== day' there are only 'key: value', '??' and '++'")
            self.head[key.strip()] = value.strip()
        elif not line:
            self.days[-1].rests.add(len(self.days[-1].lines))
        elif mark == "--":
            self.days[-1].lunch = len(self.days[-1].lines)
        elif mark == "<<":
            self._open(number, rest)
        elif line == ">>":
            self._close(number)
        elif line[0] in "?+":
            self._asked(number, line)
        else:
            self._event(number, line)

    def _intent(self, number: int, name: str) -> Intent:
        if name not in INTENTS:
            self.bad(number, f"unknown intent {name!a}")
        return cast("Intent", name)

    def _open(self, number: int, text: str) -> None:
        parts = [part.strip() for part in text.split("|")]
        if len(parts) != 4:
            self.bad(number, "a scene is '<< KIND | THING, DETAIL | OTHER THING, ITS DETAIL | TARGET'")
            return
        thing, detail, foil, its = (one.strip() for part in parts[1:3] for one in part.rpartition(", ")[::2])
        if not (thing and detail and foil and its):
            self.bad(number, "thing and detail are parted by a comma, on both sides")
            return
        self.asks, at = {}, len(self.days[-1].lines)
        self.plot = Plot(
            number, parts[0], thing, detail, foil, its, parts[3], self.asks, (), first=at, last=at
        )

    def _asked(self, number: int, line: str) -> None:
        if self.plot is None:
            self.bad(number, "a question or follow-up outside a scene; '??' and '++' are for the head")
        elif line[0] == "+":
            more = tuple(part.strip() for part in line[1:].split(" / "))
            self.plot = replace(self.plot, more=(*self.plot.more, *more))
        else:
            intent, _, text = line[1:].partition(":")
            self.asks[intent.strip()] = text.strip()

    def _close(self, number: int) -> None:
        if self.plot is None:
            self.bad(number, "no scene is open")
            return
        day = self.days[-1]
        plot = replace(self.plot, last=len(day.lines) - 1)
        self.plot = None
        day.plots.append(plot)
        lines = day.lines[plot.first :]
        for reason in _plot_faults(plot, lines, self.kinds.get(plot.kind)):
            self.bad(plot.number, reason)

    def _event(self, number: int, line: str) -> None:
        parts = [part.strip() for part in line.removeprefix("~").split("|")]
        if not 3 <= len(parts) <= 4 or parts[0] not in get_args(AppCategory):
            self.bad(number, "an event is 'CATEGORY | TITLE | SUMMARY' or '... | SUMMARY | SCREEN TEXT'")
            return
        summary, text = ("" if part == "-" else part for part in (parts[2], (*parts, "")[3]))
        category = cast("AppCategory", parts[0])
        event = Line(number, category, parts[1], summary, text, line.startswith("~"))
        self.days[-1].lines.append(event)
        attributes = {name for kind in self.kinds.values() for name in kind.attributes}
        for reason in _line_faults(event, attributes if self.plot else set()):
            self.bad(number, reason)

    def whole(self) -> Chronicle:
        """All that was read, once there is no more."""
        if self.plot is not None:
            self.bad(self.plot.number, "the scene is never closed with >>")
        self._check_head()
        for day in self.days:
            for plot, after in zip(
                day.plots, [*(p.first for p in day.plots[1:]), len(day.lines)], strict=False
            ):
                if (rest := after - plot.last - 1) < REST:
                    self.bad(
                        plot.number,
                        f"{rest} ordinary events before the next scene or the evening, {REST} at least",
                    )
        return Chronicle(
            self.head.get("job", ""),
            self.head.get("role", ""),
            tuple(self.head.get("kinds", "").split()),
            self._people("staff"),
            self._people("outside"),
            tuple(self.loose),
            tuple(self.follow),
            tuple(
                Day(tuple(day.lines), tuple(day.plots), frozenset(day.rests), day.lunch) for day in self.days
            ),
        )

    def _check_head(self) -> None:
        for key in ("job", "role", "kinds", "staff", "outside"):
            if not self.head.get(key):
                self.bad(0, f"the head lacks '{key}:'")
        kinds = set(self.head.get("kinds", "").split())
        if len(kinds) != KINDS or not kinds <= self.kinds.keys():
            self.bad(0, f"'kinds:' names {KINDS} kinds that the lexicon has")
        if not self.loose or not self.follow or not any(day.lines for day in self.days):
            self.bad(0, "there are neither '??' nor '++' lines, or no events")
        names = Counter(plot.name for day in self.days for plot in day.plots)
        for day in self.days:
            for plot in day.plots:
                if plot.kind not in kinds:
                    self.bad(plot.number, f"{plot.kind} is not among the job's kinds")
                if names[plot.name] > 1:
                    self.bad(
                        plot.number, f"{names[plot.name]} scenes are {plot.name!a}: their remarks go by that"
                    )

    def _people(self, group: str) -> tuple[Person, ...]:
        found: list[Person] = []
        for one in self.head.get(group, "").split(","):
            first, last, gender = (*one.split(), "", "", "")[:3]
            if gender not in ("f", "m") or len(one.split()) != 3 or not (first + last).isalpha():
                self.bad(0, f"{group}: {one.strip()!a} is not 'First Last f' or 'First Last m'")
                continue
            found.append(Person(first, last, "f" if gender == "f" else "m"))
        names = Counter(name.casefold() for person in found for name in (person.first, person.last))
        for name, times in names.items():
            if times > 1:
                self.bad(0, f"{name} is a name twice: names are exchanged word by word")
        return tuple(found)


def _line_faults(event: Line, attributes: set[str]) -> list[str]:
    """Of one event; `attributes` are those that may have a remark here."""
    sizes = (
        ("title", event.title, _TITLE),
        ("summary", event.summary, _SUMMARY),
        ("screen text", event.text, _TEXT),
    )
    found = [
        f"{name} of {len(text)} characters, at most {most}" for name, text, most in sizes if len(text) > most
    ]
    if fault := title_fault(event.category, event.title):
        found.append(fault)
    elif (shown := pages(event.title)) and shown[0] > shown[1]:
        found.append("a page beyond the last")
    if set(MARK.findall(event.title)) & attributes:
        found.append("remarks stand in summaries and screen texts, not in titles")
    return [*found, *said_faults(f"{event.title} {event.said}", attributes)]


def line_room(line: Line, mark: str) -> int:
    """How many characters a remark may have in the place of its mark."""
    host, most = (line.summary, _SUMMARY) if mark in line.summary else (line.text, _TEXT)
    return most - len(host.replace(mark, ""))


def said_faults(text: str, attributes: Collection[str] = ()) -> list[str]:
    """Of what an event or a remark says: a weekday by its name, a mark that nothing fills."""
    found = [
        f"nothing fills {mark[0]} here"
        for mark in MARK.finditer(text)
        if mark[1] not in attributes and not DAY_MARK.fullmatch(mark[0])
    ]
    if day := _DAY_WORDS.search(text):
        found.append(f"{day[0]!a}: write {{0}} for today's weekday, {{+1}}, {{-1}} ... for others")
    return found


def _plot_faults(plot: Plot, lines: list[Line], kind: Kind | None) -> list[str]:
    if kind is None:
        return [f"unknown kind {plot.kind!a}"]
    found: list[str] = []
    if set(plot.asks) != set(kind.intents):
        found.append(f"{kind.name} has one '?' line for each of {', '.join(kind.intents)}")
    if any(not 1 <= len(text) <= _QUERY or MARK.search(text) for text in plot.asks.values()):
        found.append(f"a question has 1 to {_QUERY} characters and no marks")
    if len(plot.more) < 3:
        found.append("three follow-ups at least: '+ a / b / c'")
    if not SCENE_LINES[0] <= len(lines) <= SCENE_LINES[1]:
        found.append(f"{len(lines)} events, {SCENE_LINES[0]} to {SCENE_LINES[1]}")
    if any(len(line.remarks) > 1 for line in lines):
        found.append("one remark for one event")
    told = [name for line in lines for name in line.remarks]
    if wrong := set(told) - set(kind.attributes):
        found.append(f"{kind.name} has {' and '.join(kind.attributes)}, not {', '.join(sorted(wrong))}")
    if any(told.count(name) != 1 for name in kind.attributes):
        found.append(f"a scene has one mark of {' and '.join(kind.attributes)} each")
    elif (
        max(min(n for n, one in enumerate(lines) if name in one.remarks) for name in kind.attributes)
        < len(lines) - 2
    ):
        found.append("the second remark stands in the last event of the scene or the last but one")
    said = " ".join(f"{line.title} {line.said}" for line in lines).casefold()
    first, other = (name.split()[0].casefold() for name in (plot.thing, plot.foil))
    for detail in (plot.detail, plot.foil_detail):
        if not re.search(rf"(?<!\w){re.escape(detail.casefold())}(?!\w)", said):
            found.append(f"{detail!a} stands in no event of the scene")
    found.extend(f"{name!a} stands in no event of the scene" for name in (first, other) if name not in said)
    if first == other or plot.detail == plot.foil_detail:
        found.append("thing and other thing begin with different words and have different details")
    if plot.target not in [in_focus(line.category, line.title) for line in lines]:
        found.append(f"target {plot.target!a} is in focus in no event of the scene")
    return found
