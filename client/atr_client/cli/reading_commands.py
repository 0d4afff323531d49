"""Commands for readers: sheets without keys, and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from atr_client.cli.failures import UsageFault, reported_errors
from atr_data.errors import DataError
from atr_data.files import write_atomic
from atr_datagen.gates.report import CheckReport
from atr_datagen.readings.answers import Reading
from atr_datagen.readings.calibration_set import (
    CLASSIFIER,
    ROUTER,
    as_lines,
    classifier_lines,
    router_lines,
)
from atr_datagen.readings.score import mark, score
from atr_datagen.readings.sheet import Kind, Sheet, make_sheet
from atr_datagen.source.compile import Compiled, read_sources

SOURCES = Path("data/sources")


@dataclass(frozen=True, slots=True)
class SheetRequest:
    sources: Sequence[Path] = ()
    only: Sequence[str] = ()
    rules: bool = False
    learning: bool = False
    rule: str | None = None
    out: Path | None = None

    @property
    def kind(self) -> Kind:
        if self.learning:
            return "learning"
        return "tests-with-rules" if self.rules else "tests"


def sheet_command(request: SheetRequest) -> None:
    with reported_errors():
        if request.rules and request.learning:
            raise UsageFault("give --rules or --learning, not both; learning sessions show no rule")
        sheet = make_sheet(_compiled(request.sources, request.only), request.kind, request.rule)
        if not sheet.items:
            raise UsageFault(f"no item for rule {request.rule!r}")
        if request.out is not None:
            write_atomic(request.out, sheet.text())
    click.echo(request.out or sheet.text(), nl=request.out is not None)


def score_sheet_command(answers: Sequence[Path], sources: Sequence[Path]) -> int:
    """Prints a line per gate. Returns 1 when one of them failed."""
    with reported_errors():
        files = [f for path in answers for f in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]
        if not files:
            raise DataError("no answers (*.yaml) here", path=next(iter(answers), None))
        readings = [Reading.read(file) for file in files]
        compiled = _compiled(sources, ())
        kinds: set[Kind] = {reading.kind for reading in readings}
        sheets: dict[Kind, Sheet] = {kind: make_sheet(compiled, kind) for kind in kinds}
        found = CheckReport(list(score([mark(sheets[r.kind], r) for r in readings])))
    for line in found.lines():
        click.echo(line)
    return 0 if found.ok else 1


def calibration_set_command(sources: Sequence[Path], out: Path) -> None:
    with reported_errors():
        compiled = _compiled(sources, ())
        out.mkdir(parents=True, exist_ok=True)
        for name, lines in ((CLASSIFIER, classifier_lines(compiled)), (ROUTER, router_lines(compiled))):
            write_atomic(out / name, as_lines(lines))
            click.echo(out / name)


def _compiled(sources: Sequence[Path], only: Sequence[str]) -> list[Compiled]:
    if not sources and not SOURCES.exists():
        raise UsageFault(f"no {SOURCES} here: run this in a checkout of atrbench, or name the sources")
    return read_sources(list(sources) or SOURCES, only=only or None)
