"""S8 and its kin: choosers that know no rule stay below the guess bound, in mean over fresh salts."""

from __future__ import annotations

from collections.abc import Sequence

from atr_datagen.gates.report import GateResult
from atr_datagen.source.compile import Compiled
from atr_datagen.validity.source_report import SourceReport, bound_line

FEWEST = 5
"""Personas from which on a chooser is worth training on the others."""


def play_gates(compiled: Sequence[Compiled], report: SourceReport | None) -> list[GateResult]:
    """`report` is None for fewer personas than it takes."""
    if report is None:
        return []
    plays = [(f"play {p.player}", p.ok, str(p)) for p in report.played]
    hostile = [(f"S8 {name}" if "hostile" in name else name, ok, line) for name, ok, line in plays]
    found = [("guess bound", report.bound.ok, bound_line(report.bound)), *hostile]
    if report.reached is not None:
        found.append(("reachability", report.reached.ok, str(report.reached)))
    return [_gate(name, ok, line[6:].strip(), len(compiled)) for name, ok, line in found]


def _gate(name: str, ok: bool, line: str, personas: int) -> GateResult:
    failures = () if ok else (f"dataset of {personas} personas: {line}",)
    return GateResult(name, int(ok), 1, failures, line)
