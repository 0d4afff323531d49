"""Words of texts, for measuring what one text gives away of another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from atr_data.episode import Reference

_ENDINGS = {"ings": "", "ing": "", "ies": "y", "ed": "", "es": "", "s": ""}
_STOP = frozenset(
    """
    a about after all also always am an and any are as at be because been before being but by can could
    did do does doing don done for from get give go had has have having he her here him his how i if in
    instead into is it its just keep let like ll m make may me more most much my need new not of off on
    one only or other our out over own per please prefer prefers put rather re s same she should so some
    such t take than that the their them then there these they thing things this those to too two up us
    use used using usually ve want wants was way we were what when where which while who will with would
    you your
    """.split()
)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Cuts one English ending off when at least three letters stay."""
    for ending, instead in _ENDINGS.items():
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            return word.removesuffix(ending) + instead
    return word


def words(text: object) -> frozenset[str]:
    """The content words of a text as stems: no stop words, single letters or numbers."""
    letters = re.sub("['’]", "", str(text).lower())
    found = re.findall(r"[a-z0-9]+", letters)
    return frozenset(stem(w) for w in found if len(w) > 1 and not w.isdigit() and w not in _STOP)


def flat(value: Any, key: str = "") -> str:
    """An attribute tree as text: the values alone, but true stands as its key and false as nothing."""
    if isinstance(value, bool):
        return key.replace("_", " ") if value else ""
    if isinstance(value, Mapping):
        fields = cast(Mapping[str, Any], value)
        return " ".join(flat(item, name) for name, item in fields.items())
    if isinstance(value, list):
        return " ".join(flat(item, key) for item in cast(list[Any], value))
    return "" if value is None else str(value).replace("_", " ")


def reference_words(reference: Reference) -> frozenset[str]:
    """The words of what an agent can read of an object, ids left out."""
    shown = {name: value for name, value in reference.attributes.items() if not name.endswith("_id")}
    return words(flat(shown))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0


def has_phrase(phrase: str, text: str) -> bool:
    """Whether a text holds a phrase as whole words, without case."""
    pattern = rf"(?<!\w){re.escape(phrase.lower())}(?!\w)"
    return re.search(pattern, text.lower()) is not None
