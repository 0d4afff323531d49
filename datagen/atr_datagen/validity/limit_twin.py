"""The chooser that takes the row that looks most like one that fails a limit.

An author who makes the failing row from the gold tells which one it is: the two agree where others differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from atr_data.episode import Reference
from atr_datagen.source.predicates import is_number
from atr_datagen.text import flat, jaccard, words
from atr_datagen.validity.corpus import Corpus, Metrics, mean
from atr_datagen.validity.policies import pick_probability
from atr_datagen.validity.stated_limits import NAMES, failing

_ALIKE, _SAME, _RARE = 0.95, 1.0, 0.3


def limit_twin(corpus: Corpus) -> Metrics:
    hits = [
        pick_probability(twin_scores(pool.case.test.instruction, pool.references), pool.golds)
        for pool in corpus.pools
    ]
    return {"shortcut.limit_twin": mean(hits)}


def twin_scores(instruction: str, pool: Sequence[Reference]) -> list[float]:
    """How much each candidate that meets the limits looks, in one attribute, like one that fails them."""
    bad = failing(instruction, pool)
    good = [place for place in range(len(pool)) if place not in bad] or list(range(len(pool)))
    scores = [-1.0] * len(pool)
    for place in good:
        found = (_likeness(pool, good, place, other) for other in sorted(bad))
        scores[place] = max(found, default=0.0)
    return scores


def _likeness(pool: Sequence[Reference], good: Sequence[int], mine: int, other: int) -> float:
    best = 0.0
    for field, value in pool[mine].attributes.items():
        theirs = pool[other].attributes.get(field)
        if value is None or theirs is None or not _compared(field, value, pool, good):
            continue
        if value == theirs:
            same = sum(pool[place].attributes.get(field) == value for place in good)
            best = max(best, _SAME + _RARE / same)
        else:
            best = max(best, _ALIKE * jaccard(words(flat(value, field)), words(flat(theirs, field))))
    return best


def _compared(field: str, value: Any, pool: Sequence[Reference], good: Sequence[int]) -> bool:
    """Whether a field says something of what a row is like, and not the same of all that meet the limits."""
    if field in NAMES or is_number(value) or re.match(r"\d{4}-\d\d-\d\d", str(value)):
        return False
    return len({json.dumps(pool[place].attributes.get(field)) for place in good}) > 1
