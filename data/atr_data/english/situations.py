"""What a sentence is about, and on which dimension something is decided in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal

from atr_data.english.words import USER, dictionary

_COMPOUND = re.compile(r"[a-z]+-[a-z]+")


def situations(text: str) -> frozenset[str]:
    return _concepts(text, "situations")


def aspects(text: str) -> frozenset[str]:
    return _concepts(text, "aspects")


@cache
def service_verbs() -> frozenset[str]:
    return frozenset(dictionary()["services"].split())


@lru_cache(maxsize=1 << 16)
def _concepts(text: str, kind: Literal["situations", "aspects"]) -> frozenset[str]:
    words = {*USER.tokens(text), *_COMPOUND.findall(text.lower())}
    index = _index(kind)
    return frozenset(concept for word in words for base in _bases(word) for concept in index.get(base, ()))


def _bases(word: str) -> set[str]:
    """The forms of which an English word may be an inflection."""
    found = {word}
    for suffix in ("s", "es", "ed", "ing", "er"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            base = word.removesuffix(suffix)
            found |= {base, base + "e"} if suffix in ("ed", "ing", "er") else {base}
            if base[-1] == base[-2]:
                found.add(base[:-1])
    if word.endswith("ies"):
        found.add(word[:-3] + "y")
    return found


@cache
def _index(kind: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for concept, words in dictionary()[kind].items():
        for word in words.split():
            found.setdefault(word, set()).add(concept)
    return {word: frozenset(concepts) for word, concepts in found.items()}
