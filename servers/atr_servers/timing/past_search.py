"""BM25 over a user's earlier events. Nothing later than a given moment has any influence on an answer."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from heapq import nlargest
from math import log

from atr_data.timing.events import WorkEvent

_K1, _B = 1.2, 0.75


class PastSearch:
    """An index over events in their order."""

    def __init__(self, events: Sequence[WorkEvent]) -> None:
        self._events = events
        self._moments = [event.t_release for event in events]
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for place, event in enumerate(events):
            words = _words(event)
            self._lengths.append(len(words))
            for word, times in Counter(words).items():
                self._postings[word].append((place, times))

    def search(self, query: str, k: int, before: WorkEvent) -> list[WorkEvent]:
        """The best k of the events released strictly before `before`, best first; ties go to the later."""
        end = bisect_left(self._moments, before.t_release)
        mean = sum(self._lengths[:end]) / end if end else 0.0
        scores: dict[int, float] = defaultdict(float)
        for word in set(_split(query)):
            postings = self._postings.get(word, [])
            postings = postings[: bisect_left(postings, (end, 0))]
            weight = log(1 + (end - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, times in postings:
                norm = _K1 * (1 - _B + _B * self._lengths[place] / mean)
                scores[place] += weight * times * (_K1 + 1) / (times + norm)
        best = nlargest(k, scores.items(), key=lambda item: (item[1], item[0]))
        return [self._events[place] for place, _ in best]


def _words(event: WorkEvent) -> list[str]:
    return _split(" ".join((event.app, event.window_title, event.summary or "", event.screen_text or "")))


def _split(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c if c.isalnum() else " " for c in folded).split()
