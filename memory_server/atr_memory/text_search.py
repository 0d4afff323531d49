"""Which of some texts are about a query, by BM25."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Protocol

_WORD = re.compile(r"\w+")


class Ranking(Protocol):
    """The positions of the best `top` of some texts for a query, best first."""

    def __call__(self, texts: Sequence[str], query: str, top: int) -> list[int]: ...


def ranked(texts: Sequence[str], query: str, top: int) -> list[int]:
    """Positions of the best `top` texts that share a word with the query, best first; of equal ones the
    earlier first. The ranking is SQLite's FTS5 `bm25` over stems."""
    words = sorted({word.lower() for word in _WORD.findall(query)})
    if not words or not texts:
        return []
    match = " OR ".join(f'"{word}"' for word in words)
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61')")
        index.executemany(
            "INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(map(_encodable, texts), start=1)
        )
        found = index.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts), rowid LIMIT ?",
            (_encodable(match), top),
        )
        return [rowid - 1 for (rowid,) in found]


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
