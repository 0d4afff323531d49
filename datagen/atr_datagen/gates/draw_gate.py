"""F3: over many salts each rule shows each of its faces as often, and pairs of rules each pair of faces."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from atr_datagen.gates.owners import gate
from atr_datagen.gates.report import GateResult
from atr_datagen.source.compile import Compiled
from atr_datagen.source.document import Path
from atr_datagen.source.draw_faces import Salt, draw_faces
from atr_datagen.source.scenario import TestScenario

SALTS = 200
LEAST_P = 0.001
"""Chance of what was seen or worse, after Holm, below which a draw is not uniform."""
_Drawn = Sequence[Mapping[str, int]]


def uniform_draw(compiled: Sequence[Compiled]) -> GateResult:
    """Chi-square per rule and per scope pair, with Holm's correction over all of them."""
    tested: list[tuple[Compiled, Path, str, float]] = []
    for c in compiled:
        rules = [(test.rule_id, test.rule) for test in c.tests]
        draws = [draw_faces(rules, Salt(f"uniformity of faces {number:03d}")) for number in range(SALTS)]
        tested += [(c, path, what, p) for path, what, p in _persona(c, draws)]
    order = sorted(range(len(tested)), key=lambda place: tested[place][3])
    corrected = [1.0] * len(tested)
    worst = 0.0
    for rank, place in enumerate(order):
        worst = max(worst, min(1.0, tested[place][3] * (len(tested) - rank)))
        corrected[place] = worst
    found = ((c, _unlikely(path, what, p)) for (c, path, what, _), p in zip(tested, corrected, strict=True))
    return gate("F3 uniform draw", found)


def _unlikely(path: Path, what: str, p: float) -> Iterator[tuple[Path, str]]:
    if p < LEAST_P:
        yield path, f"{what} are not drawn uniformly over {SALTS} salts, p = {p:.2g}"


def _persona(c: Compiled, draws: _Drawn) -> Iterator[tuple[Path, str, float]]:
    pairs: dict[str, list[TestScenario]] = {}
    for test in c.tests:
        if len(test.faces) > 1:
            seen = Counter(draw[test.rule_id] for draw in draws)
            yield test.path[:-1], "faces", chance(seen, range(len(test.faces)))
        if test.rule.pair:
            pairs.setdefault(test.rule.pair, []).append(test)
    for first, second in (members for members in pairs.values() if len(members) == 2):
        keys = [[face.block.key for face in test.faces] for test in (first, second)]
        allowed = [pair for pair in product(*keys) if pair[0] != pair[1]]
        seen = Counter((keys[0][d[first.rule_id]], keys[1][d[second.rule_id]]) for d in draws)
        yield second.path[:-1], f"faces beside those of {first.rule.key}", chance(seen, allowed)


def chance(seen: Mapping[Any, int], options: Sequence[Hashable]) -> float:
    """The chance of a draw at least as uneven, if all options are as likely and nothing else occurs."""
    total = sum(seen.values())
    if set(seen) - set(options):
        return 0.0
    expected = total / len(options)
    square = sum((seen.get(option, 0) - expected) ** 2 / expected for option in options)
    return chi_square_tail(square, len(options) - 1)


def chi_square_tail(square: float, degrees: int) -> float:
    """The chance that a chi-square variable exceeds `square`, in closed form."""
    half = square / 2
    if degrees % 2 == 0:
        return math.exp(-half) * sum(half**k / math.factorial(k) for k in range(degrees // 2))
    rest = sum(half ** (k - 0.5) / math.gamma(k + 0.5) for k in range(1, (degrees + 1) // 2))
    return math.erfc(math.sqrt(half)) + math.exp(-half) * rest
