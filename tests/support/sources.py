"""The small persona source of the tests, whole or with something changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from atr_datagen.gates.report import CheckReport, GateResult
from atr_datagen.source.compile import Compiled, read_sources
from tests.conftest import ROOT

SHIPPED = ROOT / "data" / "sources"
SOURCE = Path(__file__).resolve().parent.parent / "datagen" / "fixtures" / "pavla_ondrus.yaml"


def edited(folder: Path, *changes: tuple[str, str]) -> Path:
    """A copy of the source in a folder, each text of a pair put in place of the other, which stands once."""
    text = SOURCE.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
        text = text.replace(old, new)
    path = folder / SOURCE.name
    path.write_text(text, encoding="utf-8")
    return path


def shipped_sources() -> Path:
    """The folder of the personas that ship. Skips while they are written anew in the grammar of faces."""
    if not all("\n  faces:" in path.read_text(encoding="utf-8") for path in SHIPPED.glob("*.yaml")):
        pytest.skip("the personas are being written anew with faces")
    return SHIPPED


def compiled(path: Path = SOURCE) -> Compiled:
    (one,) = read_sources(path)
    return one


def failing(report: CheckReport) -> list[str]:
    return [gate.gate for gate in report.gates if not gate.ok]


def named(report: CheckReport, name: str) -> GateResult:
    return next(gate for gate in report.gates if gate.gate.startswith(name))
