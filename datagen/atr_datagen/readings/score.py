"""Gates B1 to B4: what readers answered against the sources."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from atr_datagen.gates.report import GateResult
from atr_datagen.readings.answers import Answer, Reading
from atr_datagen.readings.sheet import Item, Sheet, letters_of
from atr_datagen.validity.corpus import CHECK_TYPES
from atr_evaluator.guess_bound import GuessBound

RULE_GIVEN, RULE_GIVEN_PER_TYPE, AGREED, FAMILY = 0.95, 0.90, 0.95, 0.90
_ERRORS = 2
"""Standard errors that a reader may lie above what guessing brings."""


@dataclass(frozen=True, slots=True)
class Marked:
    """One reading, item by item. `missing` are items without an answer, `stale` answers without an item."""

    reading: Reading
    items: Sequence[Item]
    passed: Mapping[str, bool]
    missing: Sequence[str] = ()
    stale: Sequence[str] = field(default_factory=tuple[str, ...])

    @property
    def share(self) -> float:
        return sum(self.passed.values()) / max(1, len(self.passed))

    def of_type(self, check_type: str) -> list[Item]:
        return [item for item in self.items if item.check_type == check_type and item.code in self.passed]


def mark(sheet: Sheet, reading: Reading) -> Marked:
    """An answer passes as a run would: the right option, and for a rule on confirming also `confirm`."""
    known = {item.code: item for item in sheet.items}
    passed = {code: _passes(known[code], answer) for code, answer in reading.answers.items() if code in known}
    return Marked(
        reading,
        sheet.items,
        passed,
        [code for code in known if code not in reading.answers],
        [code for code in reading.answers if code not in known],
    )


def _passes(item: Item, answer: Answer) -> bool:
    chosen = dict(letters_of(item)).get(answer.letter)
    return chosen in item.right and (answer.confirm or not item.confirms)


def score(marked: Sequence[Marked]) -> Iterator[GateResult]:
    """One gate per reading and, where two were given the rule, B3 over each pair of them."""
    for one in marked:
        yield from _told(one)
        match one.reading.kind:
            case "tests-with-rules":
                yield from _rule_given(one)
            case "learning":
                yield _gate("B4 tool family", one, one.share, FAMILY, "at least")
            case "tests":
                yield from _hostile(one) if one.reading.hostile else _natural(one)
                yield _confirming(one)
    given = [one for one in marked if one.reading.kind == "tests-with-rules"]
    for place, one in enumerate(given):
        for other in given[place + 1 :]:
            if both := one.passed.keys() & other.passed.keys():
                yield _agreement(one, other, both)


def _told(one: Marked) -> Iterator[GateResult]:
    if one.missing or one.stale:
        note = f"{len(one.missing)} items unanswered, {len(one.stale)} answers to items that have changed"
        yield GateResult(f"{one.reading.file.stem}", len(one.passed), len(one.items), (), note)


def _rule_given(one: Marked) -> Iterator[GateResult]:
    yield _gate("B1 rule given", one, one.share, RULE_GIVEN, "at least")
    for kind in CHECK_TYPES:
        if mine := one.of_type(kind):
            yield _gate(f"B1 {kind}", one, _share(one, mine), RULE_GIVEN_PER_TYPE, "at least")


def _natural(one: Marked) -> Iterator[GateResult]:
    """Per type at most what taking the blind choice everywhere would expect over the draws of faces: of
    objects and confirmations nothing."""
    for kind in CHECK_TYPES:
        if mine := one.of_type(kind):
            bound = sum(item.blind_is_face / item.faces for item in mine) / len(mine)
            limit = bound + _ERRORS * _error(bound, len(mine))
            yield _gate(f"B2 {kind}", one, _share(one, mine), limit, "at most")


def _hostile(one: Marked) -> Iterator[GateResult]:
    """At most the guess bound that fits how the reader plays."""
    known = [item for item in one.items if item.code in one.passed]
    bound = GuessBound.of((item.check_type, item.faces) for item in known)
    confirms = any(answer.confirm for answer in one.reading.answers.values())
    limit = bound.confirming if confirms else bound.plain
    limit += _ERRORS * _error(limit, len(known))
    yield _gate("B2h hostile", one, one.share, limit, "at most")


def _confirming(one: Marked) -> GateResult:
    """How often a reader asks first where a rule wants it, less how often elsewhere. Told, not judged."""
    answers = one.reading.answers
    asked = {True: list[bool](), False: list[bool]()}
    for item in one.items:
        if item.code in answers:
            asked[item.confirms].append(answers[item.code].confirm)
    hit, alarm = (sum(asked[side]) / max(1, len(asked[side])) for side in (True, False))
    note = f"{one.reading.file.stem}: asks first in {hit:.2f} of confirm tests, {alarm:.2f} of others"
    return GateResult("confirm, hits and alarms", 1, 1, (), note)


def _agreement(one: Marked, other: Marked, both: AbstractSet[str]) -> GateResult:
    """On the items that both have read."""
    share = sum(one.passed[code] and other.passed[code] for code in both) / len(both)
    name = f"{one.reading.file.stem} and {other.reading.file.stem}"
    failures = () if share >= AGREED else (f"{name}: agree on gold in {share:.3f}; at least {AGREED:g}",)
    return GateResult("B3 two readers agree", round(share * len(both)), len(both), failures, name)


def _share(one: Marked, mine: Sequence[Item]) -> float:
    return sum(one.passed[item.code] for item in mine) / len(mine)


def _error(share: float, count: int) -> float:
    """Of a share; of one that is 0 or 1 as if one more answer had come out either way."""
    softened = (share * count + 1) / (count + 2) if share in (0.0, 1.0) else share
    return math.sqrt(softened * (1 - softened) / count)


def _gate(name: str, one: Marked, share: float, limit: float, how: str) -> GateResult:
    ok = share >= limit if how == "at least" else share <= limit + 1e-9
    note = f"{one.reading.file.stem}: {share:.3f}, {how} {limit:.3f}"
    return GateResult(name, int(ok), 1, () if ok else (note, *_wrong(one)), note)


def _wrong(one: Marked) -> Iterator[str]:
    """Where readers were told the rule, the items they got wrong, which are to be rewritten."""
    if one.reading.kind != "tests":
        for item in one.items:
            if one.passed.get(item.code) is False:
                yield f"{one.reading.file.stem}: [{item.code}] {item.text.splitlines()[0]}"
