"""Cuts a text into the word pieces that the encoder was trained on: lower case without accents, split at
spaces and punctuation, then the longest known piece first (WordPiece, as in BERT)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

_LONGEST_WORD = 100
_MOST_PIECES = 256
"""What the encoder was trained to read at once, the marks at both ends included."""


class WordPieces:
    """Its vocabulary is a text file, a piece a line; the number of a piece is that of its line from 0."""

    def __init__(self, file: Path) -> None:
        pieces = file.read_text(encoding="utf-8").split("\n")[:-1]
        self._numbers: Mapping[str, int] = {piece: number for number, piece in enumerate(pieces)}
        self._of_word = lru_cache(maxsize=1 << 15)(self._pieces)

    def numbers(self, text: str) -> list[int]:
        """A long text is cut."""
        inner = [number for word in _words(text) for number in self._of_word(word)]
        return [self._numbers["[CLS]"], *inner[: _MOST_PIECES - 2], self._numbers["[SEP]"]]

    def _pieces(self, word: str) -> Sequence[int]:
        """A word of which some part is unknown is unknown as a whole."""
        unknown = [self._numbers["[UNK]"]]
        if len(word) > _LONGEST_WORD:
            return unknown
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self._numbers), None)
            if end is None:
                return unknown
            found.append(self._numbers[prefix + word[start:end]])
            start = end
        return found


def _words(text: str) -> Iterator[str]:
    plain = "".join(map(_cleaned, text)).lower()
    bare = (char for char in unicodedata.normalize("NFD", plain) if unicodedata.category(char) != "Mn")
    spaced = "".join(f" {char} " if _stands_alone(char) else char for char in bare)
    yield from spaced.split()


def _cleaned(char: str) -> str:
    if char in "\t\n\r":
        return " "
    return "" if char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cf") else char


def _stands_alone(char: str) -> bool:
    """Punctuation, every ASCII sign among it, and Chinese characters."""
    sign = char.isascii() and char.isprintable() and not char.isalnum() and char != " "
    return sign or unicodedata.category(char).startswith("P") or "\u4e00" <= char <= "\u9fff"
