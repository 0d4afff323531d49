"""What changed from one run to another: the same variants on the same tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from atr_evaluator.aggregate.comparison_rows import COLUMNS, NOTES, rows_of
from atr_evaluator.aggregate.figures import Column, ListTable
from atr_evaluator.aggregate.paired import PairedDifference, paired_difference
from atr_evaluator.aggregate.paired import Test as PersonaTest
from atr_evaluator.aggregate.settings import ScoredCell, Setting, varying
from atr_evaluator.losses import LOSS_CLASSES

Test = tuple[str, str, str]
"""Persona, episode id, session id."""


@dataclass(slots=True)
class _Side:
    """One variant of one setting in one run: of each test, how often it was played and passed, and where it
    was lost. Trials are pooled."""

    cells: list[ScoredCell] = field(default_factory=list[ScoredCell])

    @property
    def passed(self) -> dict[Test, float]:
        told: dict[Test, list[bool]] = {}
        for cell in self.cells:
            for session_id, passed in cell.passed.items():
                told.setdefault(self._test(cell, session_id), []).append(passed)
        return {test: sum(results) / len(results) for test, results in told.items()}

    @property
    def classes(self) -> dict[Test, str]:
        """Of several trials the last counts."""
        return {
            self._test(cell, loss["session_id"]): loss["loss_class"]
            for cell in self.cells
            for loss in cell.losses
        }

    @property
    def cost(self) -> float | None:
        known = [cell.cost_usd for cell in self.cells]
        return None if None in known else sum(cost for cost in known if cost is not None)

    def _test(self, cell: ScoredCell, session_id: str) -> Test:
        return cell.persona, (cell.document or {}).get("episode_id", ""), session_id


Key = tuple[Setting, str]
_CHANGES = (
    *(column for column in COLUMNS if column.key not in ("first", "second")),
    Column("won", "won", "count"),
    Column("lost", "lost", "count"),
    Column("first_cost", "A, cost", "dollars"),
    Column("second_cost", "B, cost", "dollars"),
)


def run_comparison(first: Sequence[ScoredCell], second: Sequence[ScoredCell]) -> list[ListTable]:
    """Tables of what changed: shares with significance, classes, single tests, and what only one run has.

    A field in which all cells of one run differ from all of the other is what the runs differ by, and is not
    compared. Raises ValueError when no variant of a setting has a test that both runs played.
    """
    ignored = _set_apart(first, second)
    sides = _sides(first, ignored), _sides(second, ignored)
    names = varying(setting for setting, _ in (*sides[0], *sides[1]))
    pairs: list[tuple[str, _Side, _Side, PairedDifference]] = []
    for key in sides[0]:
        if key in sides[1]:
            one, other = sides[0][key], sides[1][key]
            if found := paired_difference(_by_persona(one.passed), _by_persona(other.passed)):
                pairs.append((_label(key, names), one, other, found))
    if not pairs:
        raise ValueError("the two have no test of one variant and model in common")
    differ = [f"A and B differ by {name}: {_value(first, name)}, {_value(second, name)}" for name in ignored]
    return [
        _changes(pairs, differ),
        _classes(pairs),
        _tests(pairs),
        _alone(sides, names),
    ]


def _changes(pairs: Sequence[tuple[str, _Side, _Side, PairedDifference]], differ: Sequence[str]) -> ListTable:
    rows: list[dict[str, Any]] = []
    told = [(label, "A", "B", found) for label, _, _, found in pairs]
    for row, (_, one, other, _) in zip(rows_of(told), pairs, strict=True):
        before, after = one.passed, other.passed
        shared = before.keys() & after.keys()
        rows.append(
            {
                **row,
                "won": sum(after[test] > before[test] for test in shared),
                "lost": sum(after[test] < before[test] for test in shared),
                "first_cost": one.cost,
                "second_cost": other.cost,
            }
        )
    notes = (NOTES[0].split(" Holm's")[0] + " Holm's correction holds over all rows.", *differ)
    return ListTable("changes", "tests passed, A and B", _CHANGES, rows, notes)


def _classes(pairs: Sequence[tuple[str, _Side, _Side, PairedDifference]]) -> ListTable:
    """Over the tests that both have."""
    columns = (
        Column("compared", "compared"),
        Column("loss_class", "class"),
        Column("first_share", "A, %", "share"),
        Column("second_share", "B, %", "share"),
        Column("difference", "difference, points", "points"),
    )
    rows: list[dict[str, Any]] = []
    for label, one, other, _ in pairs:
        before, after = one.classes, other.classes
        shared = before.keys() & after.keys()
        counts = Counter(before[test] for test in shared), Counter(after[test] for test in shared)
        for name in LOSS_CLASSES:
            if counts[0][name] or counts[1][name]:
                shares = [count[name] / len(shared) for count in counts]
                row = {"compared": label, "loss_class": name}
                rows.append(
                    {**row, "first_share": shares[0], "second_share": shares[1],
                     "difference": shares[1] - shares[0]}
                )  # fmt: skip
    return ListTable("classes", "where points are lost, A and B", columns, rows)


def _tests(pairs: Sequence[tuple[str, _Side, _Side, PairedDifference]]) -> ListTable:
    columns = (
        Column("compared", "compared"),
        Column("test", "test"),
        Column("first", "A", "rate"),
        Column("second", "B", "rate"),
        Column("first_class", "class in A"),
        Column("second_class", "class in B"),
    )
    rows = [row for label, one, other, _ in pairs for row in _changed_tests(label, one, other)]
    notes = ("passed is 1, failed 0; of several trials the mean",) if rows else ()
    return ListTable("tests", "tests that changed", columns, rows, notes)


def _changed_tests(label: str, one: _Side, other: _Side) -> Iterator[dict[str, Any]]:
    before, after, lost, still = one.passed, other.passed, one.classes, other.classes
    for test in sorted(before.keys() & after.keys()):
        if before[test] != after[test]:
            yield {
                "compared": label,
                "test": f"{test[1]}/{test[2]}",
                "first": before[test],
                "second": after[test],
                "first_class": lost.get(test, ""),
                "second_class": still.get(test, ""),
            }


def _alone(sides: tuple[Mapping[Key, _Side], Mapping[Key, _Side]], names: Sequence[str]) -> ListTable:
    columns = (Column("side", "only in"), Column("what", "what"), Column("cells", "cells", "count"))
    rows = [
        {"side": side, "what": _label(key, names), "cells": len(own[key].cells)}
        for side, own, others in (("A", *sides), ("B", *sides[::-1]))
        for key in own
        if key not in others
    ]
    return ListTable("alone", "what only one of both has", columns, rows)


def _set_apart(first: Sequence[ScoredCell], second: Sequence[ScoredCell]) -> list[str]:
    """The fields in which each run has one value, and not the same."""
    found: list[str] = []
    for one in fields(Setting):
        values = [{getattr(cell.setting, one.name) for cell in cells} for cells in (first, second)]
        if one.name != "trial" and all(len(told) == 1 for told in values) and values[0] != values[1]:
            found.append(one.name)
    return found


def _sides(cells: Sequence[ScoredCell], ignored: Sequence[str]) -> dict[Key, _Side]:
    blank = {name: type(getattr(Setting(""), name))() for name in ignored}
    sides: dict[Key, _Side] = {}
    for cell in sorted(cells, key=lambda cell: (cell.setting, cell.variant)):
        setting = replace(cell.setting, **{**blank, "trial": 1})
        sides.setdefault((setting, cell.variant), _Side()).cells.append(cell)
    return sides


def _by_persona(passed: Mapping[Test, float]) -> dict[PersonaTest, float]:
    return {(persona, (episode, session)): share for (persona, episode, session), share in passed.items()}


def _label(key: Key, names: Sequence[str]) -> str:
    setting, variant = key
    return " ".join(filter(None, (setting.label(names), variant)))


def _value(cells: Sequence[ScoredCell], name: str) -> str:
    return str(getattr(cells[0].setting, name))
