"""Which variants and which models differ, on the same tests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from atr_evaluator.aggregate.bootstrap import ENOUGH_PERSONAS
from atr_evaluator.aggregate.figures import Column, ListTable
from atr_evaluator.aggregate.paired import (
    PairedDifference,
    Test,
    holm,
    is_significant,
    paired_difference,
)
from atr_evaluator.aggregate.settings import Group, Setting, varying

COLUMNS = (
    Column("compared", "compared"),
    Column("first", "first"),
    Column("second", "second"),
    Column("first_share", "first, %", "share"),
    Column("second_share", "second, %", "share"),
    Column("difference", "difference, points", "points"),
    Column("interval", "interval"),
    Column("p", "p", "p"),
    Column("p_holm", "p, Holm", "p"),
    Column("significant", "significant"),
    Column("tests", "tests", "count"),
    Column("personas", "personas", "count"),
)
NOTES = (
    "paired bootstrap, two-sided, on the tests that both played; whole personas are drawn where there are "
    f"{ENOUGH_PERSONAS} or more, else single tests. Holm's correction holds within each family: the variants "
    "of one setting, the models of one variant. significant: corrected p < 0.05.",
)


def comparison_table(found: Sequence[Group]) -> ListTable:
    """The variants of each setting, and the models of each variant where everything else is alike."""
    names = varying(group.setting for group in found)
    rows: list[dict[str, Any]] = []
    for members in _families(found, lambda group: group.setting):
        label = members[0].setting.label(names)
        rows += family(label, [(group.variant, group) for group in members])
    for members in _families(found, lambda group: (replace(group.setting, model=""), group.variant)):
        label = _without_model(members[0].setting, members[0].variant, names)
        rows += family(label, [(group.setting.model, group) for group in members])
    return ListTable("comparisons", "differences on the same tests", COLUMNS, rows, NOTES if rows else ())


def family(label: str, members: Sequence[tuple[str, Group]]) -> Iterator[dict[str, Any]]:
    """All pairs of some named groups, corrected together."""
    pairs = [
        (first, second, found)
        for (first, one), (second, other) in combinations(members, 2)
        if (found := paired_difference(_passed(one), _passed(other)))
    ]
    return rows_of([(label, *pair) for pair in pairs])


def rows_of(pairs: Sequence[tuple[str, str, str, PairedDifference]]) -> Iterator[dict[str, Any]]:
    adjusted = holm([found.p_value for *_, found in pairs])
    for (label, first, second, found), corrected in zip(pairs, adjusted, strict=True):
        yield {
            "compared": label,
            "first": first,
            "second": second,
            "first_share": found.first,
            "second_share": found.second,
            "difference": found.difference,
            "interval": found.interval,
            "p": found.p_value,
            "p_holm": corrected,
            "significant": "yes" if is_significant(corrected) else "no",
            "tests": found.tests,
            "personas": found.personas,
        }


def _passed(group: Group) -> dict[Test, float]:
    return {
        (cell.persona, (cell.document["episode_id"], cell.episode_digest, session_id)): float(passed)
        for cell in group.cells
        if cell.document
        for session_id, passed in cell.passed.items()
    }


def _families(found: Sequence[Group], key: Callable[[Group], Hashable]) -> list[list[Group]]:
    families: dict[Hashable, list[Group]] = {}
    for group in found:
        families.setdefault(key(group), []).append(group)
    return [members for members in families.values() if len(members) > 1]


def _without_model(setting: Setting, variant: str, names: Sequence[str]) -> str:
    return ", ".join([variant, *(setting.dimension(name) for name in names)])
