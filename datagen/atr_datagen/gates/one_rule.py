"""The gates of one rule, although other rules of its persona are unfinished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from atr_data.errors import DataError
from atr_datagen.gates.executable_gates import executable_gates
from atr_datagen.gates.face_gates import face_gates
from atr_datagen.gates.out_of_bounds import out_of_bounds
from atr_datagen.gates.owners import gate
from atr_datagen.gates.report import CheckReport, GateResult
from atr_datagen.gates.session_gates import facts_used
from atr_datagen.plan.conformance import rule_deviations
from atr_datagen.plan.table import read_plan
from atr_datagen.source.compile import Compiled, compile_source, source_files
from atr_datagen.source.document import Path as Where
from atr_datagen.source.reading import SourceFile


async def check_rule(
    sources: Path | Sequence[Path], key: str, seed: int = 0, only: Sequence[str] | None = None
) -> CheckReport:
    """Runs the gates that concern a rule, its faces and its learning sessions.

    What needs an unfinished rule, as F4 needs the sibling, is left out. Raises SourceError when the rule does
    not compile, DataError when no source has it or several do.
    """
    files = source_files(sources, only)
    holding = [path for path in files if key in _keys(path)] if len(files) > 1 else files
    if len(holding) != 1:
        held = ", ".join(path.stem for path in holding) or "no source"
        raise DataError(f"{held} has a rule {key!r}; name one source that has")
    file = SourceFile.scan(holding[0], key)
    compiled = [compile_source(file, seed)]
    sessions = [(c, session) for c in compiled for session in c.learning]
    found = [
        *face_gates(compiled, seed),
        gate("bounds", ((c, out_of_bounds(c)) for c in compiled)),
        gate("S4 plan", ((c, _planned(c, file, key)) for c in compiled)),
        gate("S5 facts used", ((c, facts_used(session)) for c, session in sessions)),
        *await executable_gates(compiled, seed),
    ]
    return CheckReport([_concerning(file, result) for result in found])


def _keys(path: Path) -> list[str]:
    return SourceFile.scan(path).keys


def _planned(compiled: Compiled, file: SourceFile, key: str) -> Iterator[tuple[Where, str]]:
    """S4 where a plan lies beside the folder of the source and knows the persona."""
    path = Path(file.document.file).resolve()
    table = path.parent.parent / "plan.csv"
    planned = read_plan(table).persona(path.stem) if table.exists() else None
    place = file.keys.index(key)
    if planned is None or place >= len(planned.rules):
        return
    index = next(i for i, rule in enumerate(compiled.source.rules) if rule.key == key)
    for reason in rule_deviations(compiled.source, index, planned.rules[place]):
        yield ("rules", place), reason


def _concerning(file: SourceFile, found: GateResult) -> GateResult:
    failures = [failure for failure in found.failures if file.concerns(failure)]
    return replace(found, failures=failures, passed=found.passed if failures else found.total)
