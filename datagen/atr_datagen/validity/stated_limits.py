"""Which candidates fail a limit that the instruction states, as a reader without the source makes out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from atr_data.episode import Reference
from atr_datagen.source.predicates import is_number, items
from atr_datagen.text import words

NAMES = ("name", "title", "subject")
"""What objects are called by; it limits nothing."""
_CLOCKS = r"\d{4}-\d\d-\d\d|\d\d:\d\d"
_AT_LEAST = r"or more|or above|at least|or over|or later"
_PRICED = re.compile("price|fee|cost|charge")


def failing(instruction: str, pool: Sequence[Reference]) -> set[int]:
    """Places of the candidates that fail an amount, a date or a named value of the instruction."""
    told = instruction.lower()
    amounts = [float(x) for x in re.findall(r"\$?(\d+(?:\.\d+)?)", re.sub(_CLOCKS, "", told))]
    failed: set[int] = set()
    for field in dict.fromkeys(name for reference in pool for name in reference.attributes):
        values = [reference.attributes.get(field) for reference in pool]
        if field in NAMES or len({json.dumps(value, sort_keys=True) for value in values}) < 2:
            continue
        if all(is_number(value) for value in values if value is not None):
            if _PRICED.search(field):
                for bad in _beyond(values, amounts, at_least=bool(re.search(_AT_LEAST, told))):
                    failed |= bad if 0 < len(bad) < len(pool) - 1 else set()
        else:
            heard = words(told)
            named = [v is not None and any(_said(item, told, heard) for item in items(v)) for v in values]
            bad = {place for place, said in enumerate(named) if not said}
            failed |= bad if any(named) and 0 < len(bad) < len(pool) - 1 else set()
    return failed


def _beyond(values: Sequence[Any], amounts: Sequence[float], *, at_least: bool) -> Iterator[set[int]]:
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    for amount in amounts:
        yield {place for place, value in known if (value < amount if at_least else value > amount)}


def _said(value: Any, told: str, heard: frozenset[str]) -> bool:
    text = str(value).lower()
    date = re.match(r"\d{4}-\d\d-\d\d", text)
    if date:
        return date.group(0) in told
    return text.replace("_", " ") in told or bool(words(text) and words(text) <= heard)
