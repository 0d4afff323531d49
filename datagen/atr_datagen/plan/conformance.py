"""S4: a source is what the plan asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from atr_datagen.plan.given import planned_rule, planned_session
from atr_datagen.plan.model import PlannedPersona, PlannedRule, PlannedSession
from atr_datagen.plan.sides import INSIDE
from atr_datagen.source.document import Path
from atr_datagen.source.grammar import Source

Deviations = Iterator[tuple[Path, str]]

_RULE_FIELDS = ("domain", "type", "faces", "candidates", "limits", "sibling", "pinned")
_SESSION_FIELDS = ("role", "domain", "family", "day")


def deviations(source: Source, plan: PlannedPersona) -> Deviations:
    """Where a source leaves the plan: what rules bind and in which rank, what sessions are for and choose.

    Pull fields may have other names, paths other steps, triggers other words, and faces other enum values.
    """
    for index, (rule, planned) in enumerate(zip_longest(source.rules, plan.rules)):
        path: Path = ("rules", index)
        if rule is None or planned is None:
            yield ("rules",), f"has {len(source.rules)} rules; the plan has {len(plan.rules)}"
            return
        yield from ((path, reason) for reason in _rule(planned_rule(source, index), planned))
    enums = {rule.index: rule.slot for rule in plan.rules if rule.type == "param_enum"}
    for index, (block, planned) in enumerate(zip_longest(source.learning, plan.learning)):
        path = ("learning", index)
        if block is None or planned is None:
            yield ("learning",), f"has {len(source.learning)} sessions; the plan has {len(plan.learning)}"
            return
        # Inside the trigger the values of the author's own faces are out, whichever the plan thought of.
        neutral = planned.trigger == INSIDE and planned.rule in enums
        own = {enums[planned.rule]} if neutral and planned.rule is not None else set[str]()
        bound = {*enums.values()} - own
        yield from ((path, reason) for reason in _session(planned_session(source, index), planned, bound))


def rule_deviations(source: Source, index: int, planned: PlannedRule) -> Iterator[str]:
    """Where one rule leaves the plan, when the rules around it are not all there: its sibling is taken as
    planned. `index` is its place in what was read."""
    yield from _rule(replace(planned_rule(source, index), sibling=planned.sibling), planned)


def _rule(written: PlannedRule, planned: PlannedRule) -> Iterator[str]:
    yield from _fields(written, planned, _RULE_FIELDS)
    if {*written.slot.split()} != {*planned.slot.split()}:
        yield f"decides {written.slot}; the plan says {planned.slot}"
    ranks = [sorted((p.direction, tuple(p.ranks)) for p in rule.pulls) for rule in (written, planned)]
    if ranks[0] != ranks[1]:
        yield f"the ranks of the faces' golds are {_ranks(written)}; the plan says {_ranks(planned)}"
    if bool(written.pair) != bool(planned.pair):
        yield (
            "is no scope pair in the plan" if written.pair else f"should be of a scope pair on {planned.slot}"
        )


def _ranks(rule: PlannedRule) -> str:
    told = (f"{p.field} {p.direction} {'/'.join(map(str, p.ranks))}" for p in rule.pulls)
    return ", ".join(told) or "none"


def _session(written: PlannedSession, planned: PlannedSession, bound: set[str]) -> Iterator[str]:
    yield from _fields(written, planned, _SESSION_FIELDS)
    if written.rule != planned.rule:
        yield f"belongs to rule {written.rule}; the plan says {planned.rule}, counted from 0"
    if written.trigger != planned.trigger:
        yield f"where is {written.trigger or 'left out'}; the plan says {planned.trigger or 'nothing'}"
    for slot, value in planned.drawn.items():
        if slot in bound and written.drawn.get(slot) != value:
            yield f"{slot} is {written.drawn.get(slot, 'not chosen')}; the plan drew {value}"


def _fields(
    written: PlannedRule | PlannedSession, planned: PlannedRule | PlannedSession, names: tuple[str, ...]
) -> Iterator[str]:
    for name in names:
        mine, wanted = getattr(written, name), getattr(planned, name)
        if mine != wanted:
            yield f"{name} is {mine!r}; the plan says {wanted!r}"
