"""Words by which the early and the late wordings of a value could be told to mean the same.

A habit is to carry over by meaning. A word that tells a value in texts of both kinds carries it by a string.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from atr_datagen.timing.chronicle import MARK, Chronicle

MOST_SHARED = 0.2
"""Of a value's texts of either kind, at most so many have a telling word that the other kind has as well."""

FEW_TEXTS = 5
"""Fewer of a value in a chronicle say nothing of how often a word comes."""

_TELLING = 0.6
_COMMON = frozenset(
    "about again already another before being could every from have here into just like must next "
    "nobody nothing once only over same should some still than that their them then there these they "
    "this those till until what when where which while will with within without work would your user".split()
)
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Shared:
    """For one value in one chronicle: of how many texts of either kind, the larger share of those with such a
    word, and the words, the commonest first."""

    attribute: str
    value: str
    texts: int
    share: float
    words: tuple[str, ...]


def shared_words(chronicle: Chronicle) -> Iterator[Shared]:
    """For each value that the remarks of the chronicle state. A word tells a value when most of the texts
    with it state that one, each of the attribute's other values counted for half."""
    texts: dict[str, dict[str, tuple[list[set[str]], list[set[str]]]]] = defaultdict(dict)
    for plot in chronicle.plots:
        for (attribute, value), pair in plot.remarks.items():
            sides = texts[attribute].setdefault(value, ([], []))
            for side, text in zip(sides, pair, strict=True):
                side.append(content_words(text))
    for attribute, values in texts.items():
        counts = {
            value: [Counter(chain.from_iterable(side)) for side in sides] for value, sides in values.items()
        }
        everywhere: Counter[str] = Counter()
        for one, other in counts.values():
            everywhere += one + other
        for value, sides in values.items():
            one, other = counts[value]
            telling = {
                word
                for word in one.keys() & other.keys()
                if (own := one[word] + other[word]) > _TELLING * (own + (everywhere[word] - own) / 2)
            }
            share = max(sum(bool(words & telling) for words in side) / len(side) for side in sides)
            often = sorted(telling, key=lambda word: (-min(one[word], other[word]), word))
            yield Shared(attribute, value, len(sides[0]), share, tuple(often))


def content_words(text: str) -> set[str]:
    """Longer words, cut to a stem of five letters."""
    plain = MARK.sub(" ", text).casefold()
    words = "".join(c if c.isalnum() else " " for c in plain).split()
    return {word[:5] for word in words if len(word) >= _SHORTEST and word not in _COMMON}
