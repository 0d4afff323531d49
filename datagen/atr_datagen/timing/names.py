"""Composed names: people, projects, places, firms and topics that exist nowhere."""

from __future__ import annotations

from random import Random

_FIRST = "Abel Brina Corvan Delka Emeth Falke Gerun Hesta Ilvo Jorna Kelm Lurie Mirko Nadel Orsa Pell Quenby"
_MORE = "Rikka Sorel Tavi Ulmer Vesna Wendo Ysolt Zarek Anouth Bexley Cadra Dorrit Elgin"
_HEADS = "Ald Bran Cor Dun Esk Far Gal Har Ing Kel Lar Mor Nor Oth Pen Quar Ros Sel Tarn Ulv Ven Wex Yar Zel"
_TAILS = (
    "bury dale ford gate holm ique kamp lund mere nell over quist rath stead thorpe vall wick ham loe sund"
)
_FIRMS = ("Works", "& Sons", "Institute", "Trading", "Foundation", "Group")


def person(random: Random) -> str:
    """A first and a last name."""
    return f"{random.choice(f'{_FIRST} {_MORE}'.split())} {word(random)}"


def word(random: Random) -> str:
    """A name that could be a place's or a project's."""
    return random.choice(_HEADS.split()) + random.choice(_TAILS.split())


def firm(random: Random) -> str:
    """A name of an organisation."""
    return f"{word(random)} {random.choice(_FIRMS)}"


def distinct(random: Random, number: int, taken: frozenset[str] = frozenset()) -> list[str]:
    """That many different words, none of them taken."""
    found: dict[str, None] = {}
    while len(found) < number:
        name = word(random)
        if name not in taken:
            found[name] = None
    return list(found)


def slug(text: str) -> str:
    """The text as a file would be called."""
    return "_".join("".join(c if c.isalnum() else " " for c in text.lower()).split())
