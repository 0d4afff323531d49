"""Plain words: stems, dates, counts and bounds as a sentence states them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeVar

_Word = TypeVar("_Word", bound=Hashable)
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_STOP = frozenset(
    """a about after again all also always am an and any are as ask at be because been before being but by
    can could did do does doing don done for from generally get give go good had has have having her here
    him his how i if in into is it its just keep kind let like ll made make may me mine more most
    much my need new no not now of off on one only or other our out over own per pick please prefer
    put re right s same see she should so some someone something such sure t take than that the
    their them then there these they thing things this those time to too two up us use used using
    usual usually ve very want was way we well were what when where whether which while who will
    with without would you your""".split()
)
_ENDINGS = (
    ("ies", "y"),
    ("ied", "y"),
    ("sses", "ss"),
    ("ing", ""),
    ("ed", ""),
    ("es", "e"),
    ("s", ""),
    ("ly", ""),
)
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
_SMALL_NUMBERS: Sequence[str] = "zero one two three four five six seven eight nine ten eleven twelve".split()


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit that a request states. `unit` is the stem of the word behind the number, empty for none or
    for money."""

    kind: Literal["at_most", "at_least"]
    number: float
    unit: str

    def allows(self, value: float) -> bool:
        return value <= self.number if self.kind == "at_most" else value >= self.number


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """A crude common form of the inflections of a word."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and not word.endswith(("ss", "eed")) and len(word) - len(ending) >= 3:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def tokens(text: str) -> list[str]:
    """Words in lower case; hyphenated ones apart, a possessive without its ending."""
    return [
        word.replace("’", "'").removesuffix("'s") for word in _WORD.findall(text.lower().replace("_", " "))
    ]


def is_small_word(word: str) -> bool:
    return word in _STOP or len(word) < 2


def stems(text: str) -> list[str]:
    """Stems of the content words of a text, in order."""
    return [stem(word) for word in tokens(text) if not is_small_word(word)]


def rarity(documents: Sequence[Iterable[_Word]]) -> dict[_Word, float]:
    """How telling a word is among documents: 0 when all of them have it."""
    counts = Counter(word for document in documents for word in set(document))
    return {word: math.log((1 + len(documents)) / (1 + count)) for word, count in counts.items()}


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
            unit = "" if word in ("dollars", "usd", "bucks") or is_small_word(word) else stem(word)
            bound = Bound(kind, float(match[1].replace(",", "")), "" if "$" in match[0] else unit)
            if bound.number not in [known.number for known in found]:
                found.append(bound)
    return found


def ceiling(text: str) -> float | None:
    """The upper limit on a price that a text states, if it states one."""
    return next((b.number for b in bounds(text) if b.kind == "at_most" and not b.unit), None)


def count_near(text: str, nouns: Sequence[str]) -> int | None:
    """The number that stands before one of the nouns, else the first small number word."""
    number = r"(\d{1,3}|" + "|".join(_SMALL_NUMBERS) + ")"
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
    return int(text) if text.isdigit() else _SMALL_NUMBERS.index(text.lower())
