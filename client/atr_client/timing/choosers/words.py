"""Words of events as numbers. Under another salt the same word is another number: what was learned from
people who used the same words is then worth nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from zlib import crc32

from atr_client.timing.choosers.chooser import Seen

BUCKETS = 1 << 18
_WORD = re.compile(r"\w+")


def words_of(event: Seen) -> list[str]:
    """Title, summary and text, case folded."""
    return _WORD.findall(f"{event.title} {event.summary} {event.text}".casefold())


def window_features(event: Seen, seen: Sequence[Seen], salt: str, size: int = 3) -> list[int]:
    """Single words and pairs of neighbours in the event and the ordinary ones before it, hashed."""
    window = [event]
    for earlier in reversed(seen):
        if len(window) == size:
            break
        if not earlier.self_help:
            window.append(earlier)
    found: set[int] = set()
    for one in window:
        words = [word for word in words_of(one) if not word.isdigit()]
        found.update(hashed(word, salt) for word in words)
        found.update(hashed(f"{a} {b}", salt) for a, b in pairwise(words))
    return sorted(found)


@lru_cache(maxsize=1 << 18)
def hashed(word: str, salt: str) -> int:
    return crc32(f"{salt}|{word}".encode()) % BUCKETS
