"""Where chance comes from: one generator per named purpose, and keyed draws that a salt decides."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from hashlib import sha256
from math import exp, log
from random import Random
from typing import TypeVar

T = TypeVar("T")


def stream_of_chance(*purpose: object) -> Random:
    """A generator that depends on its purpose alone."""
    return Random("|".join(str(part) for part in purpose))


def lognormal(random: Random, median: float, sigma: float, low: float, high: float) -> float:
    """Clipped to [low, high]."""
    return min(high, max(low, exp(random.gauss(log(median), sigma))))


def geometric(random: Random, mean: float) -> int:
    """At least 1. `mean` is at least 1."""
    if mean <= 1:
        return 1
    return 1 + int(log(1 - random.random()) / log(1 - 1 / mean))


def in_turn(random: Random, choices: Sequence[T]) -> Iterator[T]:
    """One after the other in random order, without end: none comes again before all have come."""
    while choices:
        yield from random.sample(choices, len(choices))


def keyed(salt: str, *key: object) -> float:
    """A number in [0, 1) from HMAC-SHA256 of the key under the salt."""
    digest = hmac.digest(salt.encode(), "|".join(str(part) for part in key).encode(), sha256)
    return int.from_bytes(digest[:7]) / 2**56


def opaque(*key: object) -> str:
    """Ten hex digits that tell nothing of the key."""
    return sha256("|".join(str(part) for part in key).encode()).hexdigest()[:10]
