"""Words of a text, without the small ones, and their stems."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, TypeVar

import yaml

_Word = TypeVar("_Word", bound=Hashable)
NUMBER_WORDS: Sequence[str] = "zero one two three four five six seven eight nine ten eleven twelve".split()


@cache
def dictionary() -> Mapping[str, Any]:
    """What `dictionary.yaml` says, section by section."""
    text = files("atr_data.english").joinpath("dictionary.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@dataclass(frozen=True, eq=False)
class Reader:
    """A way to take a text apart.

    `small` names the words that it passes over beside those that everybody does. Of `endings`, the first that
    fits and leaves three letters is cut off, and what it maps to stands instead; not from a word that ends in
    one of `whole`. `evens` makes `planned` and `plan`, `planes` and `plane` alike: it drops a doubled letter
    and an e.
    """

    word: re.Pattern[str]
    small: str
    endings: Mapping[str, str]
    whole: tuple[str, ...] = ()
    evens: bool = True

    def tokens(self, text: str) -> list[str]:
        """Words in lower case, a possessive without its ending."""
        found = self.word.findall(text.lower())
        return [word.replace("’", "'").removesuffix("'s") for word in found]

    def is_small(self, word: str) -> bool:
        return len(word) < 2 or word in _small_words(self.small)

    def content_words(self, text: str) -> list[str]:
        """The words that carry meaning, in order, repeats kept."""
        return [word for word in self.tokens(text) if not self.is_small(word)]

    def stem(self, word: str) -> str:
        """A crude common form of the inflections of a word; only good for comparing."""
        return _stem(self, word)

    def stems(self, text: str) -> list[str]:
        """Stems of the content words of a text, in order."""
        return [_stem(self, word) for word in self.content_words(text)]


AGENTS = Reader(
    re.compile(r"[a-z0-9]+(?:'[a-z]+)?"),
    "agents",
    {"ies": "y", "ied": "y", "sses": "ss", "ing": "", "ed": "", "es": "e", "s": "", "ly": ""},
    whole=("ss", "eed"),
)
"""How the offline agents read."""

USER = Reader(
    re.compile(r"[a-z]+(?:['’][a-z]+)?"),
    "user",
    {
        **dict.fromkeys(("ations", "ation", "ingly", "ings", "ing", "edly"), ""),
        **dict.fromkeys(("ied", "ies"), "y"),
        **dict.fromkeys(("ed", "es", "ly", "s"), ""),
    },
    whole=("ss",),
)
"""How the offline user and its Classifier read."""

MEASURES = Reader(
    re.compile(r"[a-z0-9]*[a-z][a-z0-9]*"),
    "measures",
    {"ings": "", "ing": "", "ies": "y", "ed": "", "es": "", "s": ""},
    evens=False,
)
"""How the measures of a data set read; the figures published with one depend on it."""


def rarity(documents: Sequence[Iterable[_Word]]) -> dict[_Word, float]:
    """How telling a word is among documents: 0 when all of them have it."""
    counts = Counter(word for document in documents for word in set(document))
    return {word: math.log((1 + len(documents)) / (1 + count)) for word, count in counts.items()}


def has_phrase(phrase: str, text: str) -> bool:
    """Whether a text holds a phrase as whole words, without case."""
    pattern = rf"(?<!\w){re.escape(phrase.lower())}(?!\w)"
    return re.search(pattern, text.lower()) is not None


@cache
def _small_words(reader: str) -> frozenset[str]:
    small = dictionary()["small_words"]
    return frozenset(f"{small['all']} {small[reader]}".split())


@lru_cache(maxsize=1 << 16)
def _stem(reader: Reader, word: str) -> str:
    for ending, instead in reader.endings.items():
        if word.endswith(ending) and not word.endswith(reader.whole) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending) + instead
            break
    if not reader.evens:
        return word
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word
