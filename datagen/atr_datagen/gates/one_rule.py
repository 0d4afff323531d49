"""The gates of one rule, although other rules of its persona are unfinished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from atr_data.errors import DataError
from atr_datagen.gates.executable_gates import executable_gates
from atr_datagen.gates.face_gates import face_gates
from atr_datagen.gates.out_of_bounds import out_of_bounds
from atr_datagen.gates.owners import gate
from atr_datagen.gates.report import CheckReport, GateResult
from atr_datagen.gates.session_gates import facts_used
from atr_datagen.source.compile import compile_source, source_files
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
        gate("S5 facts used", ((c, facts_used(session)) for c, session in sessions)),
        *await executable_gates(compiled, seed),
    ]
    return CheckReport([_concerning(file, result) for result in found])


def _keys(path: Path) -> list[str]:
    return SourceFile.scan(path).keys


def _concerning(file: SourceFile, found: GateResult) -> GateResult:
    failures = [failure for failure in found.failures if file.concerns(failure)]
    return replace(found, failures=failures, passed=found.passed if failures else found.total)
