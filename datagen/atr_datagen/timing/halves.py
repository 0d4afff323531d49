"""Which wordings of a value the users of a set meet early, and which late.

The halves share no content word as far as that is possible, so that a habit is carried over by meaning and
not by a string.
"""

from __future__ import annotations

from collections.abc import Sequence

from atr_datagen.timing.draws import keyed

_COMMON = frozenset(
    "about again already another before being could every from have here into just like must next "
    "nobody nothing once only over same should some still than that their them then there these they "
    "this those till until what when where which while will with within without work would your user".split()
)
_SHORTEST = 4


def halves(wordings: Sequence[str], seed: object, *key: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Early and late wordings, each about half, drawn by a key that no salt of the gold enters.

    Wordings that share a content word stay together.
    """
    groups = sorted(_groups(wordings), key=lambda group: (-len(group), keyed(str(seed), *key, group[0])))
    early: list[str] = []
    late: list[str] = []
    for group in groups:
        fewer, other = (early, late) if len(early) < len(late) else (late, early)
        if len(early) == len(late) and keyed(str(seed), *key, "side", group[0]) < 0.5:
            fewer, other = other, fewer
        fewer.extend(group)
    return tuple(early), tuple(late)


def content_words(text: str) -> set[str]:
    """Longer words, cut to a stem of five letters."""
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return {word[:5] for word in words if len(word) >= _SHORTEST and word not in _COMMON}


def _groups(wordings: Sequence[str]) -> list[list[str]]:
    groups: list[tuple[set[str], list[str]]] = []
    for wording in wordings:
        words, members = content_words(wording), [wording]
        apart: list[tuple[set[str], list[str]]] = []
        for known, group in groups:
            if known & words:
                words, members = words | known, group + members
            else:
                apart.append((known, group))
        groups = [*apart, (words, members)]
    return [members for _, members in groups]
