"""Plain word matching for the offline agents: stems, weights, dates, numbers, stated limits."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

_WORD = re.compile(r"[a-z0-9]+")
_STOP = frozenset(
    """a about after again all also always am an and any are as ask at be because been before being but by
    can could did do does doing don done for from generally get give go good had has have her here
    him his how i if in into is it its just keep kind let like ll made make may me mine more most
    much my need new no not now of off on one only or other our out over own per pick please prefer
    put re right s same see she should so some someone something such sure t take than that the
    their them then there these they thing things this those time to too two up us use used using
    usual usually ve very want was way we well were what when where whether which while who will
    with without would you your""".split()
)
_TURNING = re.compile(
    r"\b(?:rather than|instead of|(?<!look )(?<!go )over|not|never|no|without|avoid|skip|than|don't|do not"
    r"|isn't|aren't)\b",
    re.I,
)
_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d{2}))?\s*([ap])\.?m\b\.?|\b([01]?\d|2[0-3]):([0-5]\d)\b", re.I)
_CEILING = re.compile(
    r"(?:under|below|up to|at most|no more than|not more than|less than|within|max(?:imum)?(?: of)?"
    r"|budget(?: of| is)?|cap(?:ped)?(?: at| of)?|limit(?: of| is)?)\D{0,24}?\$?\s*(\d+(?:[.,]\d+)?)"
    r"|\$\s*(\d+(?:\.\d+)?)\s*(?:or less|at most|tops|max)",
    re.I,
)
_SMALL_NUMBERS: Sequence[str] = "zero one two three four five six seven eight nine ten eleven twelve".split()


def stem(word: str) -> str:
    """A crude stem: plural, -ing and -ed endings go, if enough is left."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            word = word[: len(word) - len(ending)] + instead
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def stems(text: str) -> list[str]:
    """Stems of the content words of a text, in order."""
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP and len(word) > 1]


def leaning(statement: str) -> Counter[str]:
    """Stems of a statement with +1, or -1 behind words that turn it: `A rather than B` leans to A."""
    counted: Counter[str] = Counter()
    for clause in re.split(r"[,;.—–!?]| but | and ", statement):
        wanted, *unwanted = _TURNING.split(clause)
        for word in stems(wanted):
            counted[word] = max(counted[word], 1)
        for word in stems(" ".join(unwanted)):
            counted.setdefault(word, -1)
    return counted


def rarity(documents: Sequence[Iterable[str]]) -> dict[str, float]:
    """How telling a stem is among documents: 0 when all of them have it."""
    counts = Counter(word for document in documents for word in set(document))
    return {word: math.log((1 + len(documents)) / (1 + count)) for word, count in counts.items()}


def overlap(leans: Mapping[str, int], words: Iterable[str], weight: Mapping[str, float]) -> float:
    """Weighted sum of the stems that both sides share; a stem that is leaned against counts against."""
    return sum(leans[word] * weight.get(word, 0.0) for word in set(words) if word in leans)


def dates(text: str) -> list[str]:
    return [match[1] for match in _DATE.finditer(text)]


def moments(text: str) -> list[str]:
    """Dates joined with the times that stand with them, else with the first time named in the text."""
    clock = next((_clock(match) for match in _CLOCK.finditer(_DATE.sub(" ", text))), None)
    return [
        f"{match[1]}T{match[2] or clock}" if match[2] or clock else match[1] for match in _DATE.finditer(text)
    ]


def _clock(match: re.Match[str]) -> str:
    if match[4] is not None:
        return f"{int(match[4]):02}:{match[5]}"
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    return f"{hour:02}:{match[2] or '00'}"


def ceiling(text: str) -> float | None:
    """The upper limit on a price that a request states, if it states one."""
    match = _CEILING.search(text)
    return float((match[1] or match[2]).replace(",", "")) if match else None


def count_near(text: str, nouns: Sequence[str]) -> int | None:
    """The number that stands before one of the nouns, else the first small number word."""
    number = r"(\d{1,3}|" + "|".join(_SMALL_NUMBERS) + ")"
    for noun in nouns:
        if match := re.search(rf"\b{number}\b(?:\s+[a-z-]+){{0,2}}?\s+{noun}", text, re.I):
            return _number(match[1])
    match = re.search(rf"\b(?:for|of)\s+{number}\b(?!\d|-|:)", text, re.I)
    return _number(match[1]) if match else None


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _SMALL_NUMBERS.index(text.lower())
