"""Reading conformance vectors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

Case = dict[str, Any]


def read_jsonl(path: Path) -> list[Case]:
    """The cases of a vector file; without it the test is skipped under its name."""
    if not path.is_file():
        pytest.skip(f"no {path.name} here")
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.decode("utf-8").split("\n") if line]


def first(cases: Iterable[Case], wanted: Callable[[Case], Any] = bool) -> Case:
    """The first case that is wanted; the test is skipped where there is none."""
    case = next(filter(wanted, cases), None)
    if case is None:
        pytest.skip("no such case in these vectors")
    return case


def report(name: str, cases: Sequence[Case], agrees: Callable[[Case], bool]) -> None:
    """Prints `agree/total` and fails when a case disagrees, naming the first five."""
    wrong = [str(case.get("case_id") or index) for index, case in enumerate(cases) if not agrees(case)]
    line = f"{name}: {len(cases) - len(wrong)}/{len(cases)} agree"
    print(line)
    assert not wrong, f"{line}; disagree: {', '.join(wrong[:5])}"
