"""Dates, counts and bounds as a sentence states them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atr_data.english.words import AGENTS, NUMBER_WORDS

_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?")
_DATE_AND_ON = re.compile(r"\b(\d{4}-\d{2}-\d{2}) or (later|after|earlier|before)\b", re.I)
_AROUND_DATE = re.compile(r"\b(since|after|before|until) (\d{4}-\d{2}-\d{2})\b", re.I)
_SIDES: Mapping[str, Literal["from", "to"]] = {
    **dict.fromkeys(("later", "after", "since"), "from"),
    **dict.fromkeys(("earlier", "before", "until"), "to"),
}
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d{2}))?\s*([ap])\.?m\b\.?|\b([01]?\d|2[0-3]):([0-5]\d)\b", re.I)
_NUMBER = r"\$?\s*(\d[\d,]*(?:\.\d+)?)\s*(?!-\d)(?:([a-z]+)\b)?"
_AT_MOST = re.compile(
    r"(?:under|below|up to|at most|no (?:more|longer|higher|farther) than|not more than|(?<!no )less than"
    r"|within|max(?:imum)?(?: of)?|budget(?: of| is)?|cap(?:ped)?(?: at| of)?|limit(?: of| is)?)"
    r"(?: about| around| roughly)?\s*" + _NUMBER,
    re.I,
)
_OR_LESS = re.compile(_NUMBER + r"\s*(?:or (?:less|under|fewer|below|shorter)|at most|tops|max)", re.I)
_AT_LEAST = re.compile(r"(?:at least|no (?:less|fewer) than|more than|over|above)\s*" + _NUMBER, re.I)
_OR_MORE = re.compile(_NUMBER + r"\s*(?:or (?:more|over|longer|above|better)|at least)", re.I)


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit that a request states. `unit` is the stem of the word behind the number, empty for none or
    for money."""

    kind: Literal["at_most", "at_least"]
    number: float
    unit: str

    def allows(self, value: float) -> bool:
        return value <= self.number if self.kind == "at_most" else value >= self.number


def dates(text: str) -> list[str]:
    return [match[1] for match in _DATE.finditer(text)]


@dataclass(frozen=True, slots=True)
class DateBound:
    """A first or a last day that a request states; `open` leaves the day itself out."""

    day: str
    side: Literal["from", "to"]
    open: bool

    def allows(self, day: str) -> bool:
        if day == self.day:
            return not self.open
        return (day > self.day) == (self.side == "from")


def date_bounds(text: str) -> list[DateBound]:
    """Limits on dates that a text states: `2026-05-01 or later`, `before 2026-05-01`."""
    found = [DateBound(m[1], _SIDES[m[2].lower()], open=False) for m in _DATE_AND_ON.finditer(text)]
    return found + [
        DateBound(m[2], _SIDES[m[1].lower()], open=m[1].lower() in ("after", "before"))
        for m in _AROUND_DATE.finditer(text)
    ]


def moments(text: str) -> list[str]:
    """Dates joined with the times that stand with them, else with the first time named in the text."""
    clock = next((_clock(match) for match in _CLOCK.finditer(_DATE.sub(" ", text))), None)
    return [
        f"{match[1]}T{match[2] or clock}" if match[2] or clock else match[1] for match in _DATE.finditer(text)
    ]


def bounds(text: str) -> list[Bound]:
    """The limits on amounts that a text states, in its order of kinds: upper ones first."""
    text = _DATE.sub(" ", text)
    found: list[Bound] = []
    kinds: Sequence[tuple[Literal["at_most", "at_least"], re.Pattern[str]]] = (
        ("at_most", _AT_MOST),
        ("at_most", _OR_LESS),
        ("at_least", _AT_LEAST),
        ("at_least", _OR_MORE),
    )
    for kind, pattern in kinds:
        for match in pattern.finditer(text):
            word = (match[2] or "").lower()
            unit = "" if word in ("dollars", "usd", "bucks") or AGENTS.is_small(word) else AGENTS.stem(word)
            bound = Bound(kind, float(match[1].replace(",", "")), "" if "$" in match[0] else unit)
            if bound.number not in [known.number for known in found]:
                found.append(bound)
    return found


def ceiling(text: str) -> float | None:
    """The upper limit on a price that a text states, if it states one."""
    return next((b.number for b in bounds(text) if b.kind == "at_most" and not b.unit), None)


def count_near(text: str, nouns: Sequence[str]) -> int | None:
    """The number that stands before one of the nouns, else the first small number word."""
    number = r"(\d{1,3}|" + "|".join(NUMBER_WORDS) + ")"
    for noun in nouns:
        if match := re.search(rf"\b{number}\b(?:\s+[a-z-]+){{0,2}}?\s+{noun}", text, re.I):
            return _number(match[1])
    match = re.search(rf"\b(?:for|of)\s+{number}\b(?!\d|-|:)", text, re.I)
    return _number(match[1]) if match else None


def _clock(match: re.Match[str]) -> str:
    if match[4] is not None:
        return f"{int(match[4]):02}:{match[5]}"
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    return f"{hour:02}:{match[2] or '00'}"


def _number(text: str) -> int:
    return int(text) if text.isdigit() else NUMBER_WORDS.index(text.lower())
