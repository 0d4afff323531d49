"""The people of a chronicle under other names: colleagues stay, those outside change with each pass."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

from atr_data.reading import read_text
from atr_datagen.timing.chronicle import Person

_LINES = read_text(Path(__file__).with_name("names.txt")).splitlines()
POOLS = {key: names.split() for key, _, names in (line.partition(":") for line in _LINES)}
"""First names of women and men, `f` and `m`, and `last` names, of people who exist nowhere."""

_WORD = re.compile(r"[^\W\d_]+")


def words_of(text: str) -> set[str]:
    """Its words in small letters, those within file names and channels too."""
    return {word.casefold() for word in _WORD.findall(text)}


class Casting:
    """Deals out names of the same initial and, for first names, the same gender, as far as there are some:
    what stands in the text by initials or by the alphabet stays right. None is a word of `taken`, none is the
    one that was dealt for the same name before, and others of its letter come first."""

    def __init__(self, random: Random, taken: Iterable[str]) -> None:
        self._random, self._taken = random, set(taken)
        self._times: Counter[str] = Counter()
        self._before: dict[str, str] = {}

    def of(self, people: Sequence[Person], present: Iterable[str] = ()) -> dict[str, str]:
        """From each name in small letters to another one, all different and none of `present`."""
        found: dict[str, str] = {}
        busy = self._taken | {name.casefold() for name in present}
        for person in people:
            for written, pool in ((person.first, POOLS[person.gender]), (person.last, POOLS["last"])):
                name = written.casefold()
                free = [one for one in pool if one.casefold() not in busy and one != self._before.get(name)]
                found[name] = min(free, key=lambda one: self._rank(one, written))
                busy.add(found[name].casefold())
        self._times.update(found.values())
        self._before |= found
        return found

    def _rank(self, name: str, written: str) -> tuple[bool, int, float]:
        return name[0] != written[0], self._times[name], self._random.random()


def exchanged(text: str, names: Mapping[str, str]) -> str:
    """The text with every name replaced, in its case, and in the plural."""

    def other(match: re.Match[str]) -> str:
        word = match[0]
        known, end = word.casefold(), ""
        if known not in names and known.endswith("s"):
            known, end = known[:-1], "s"
        if known not in names:
            return word
        name = names[known] + end
        return name.lower() if word.islower() else name.upper() if word.isupper() else name

    return _WORD.sub(other, text)
