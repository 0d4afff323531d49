"""Reading conformance vectors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Case = dict[str, Any]


def read_jsonl(path: Path) -> list[Case]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.decode("utf-8").split("\n") if line]


def report(name: str, cases: Sequence[Case], agrees: Callable[[Case], bool]) -> None:
    """Prints `agree/total` and fails when a case disagrees, naming the first five."""
    wrong = [str(case.get("case_id") or index) for index, case in enumerate(cases) if not agrees(case)]
    line = f"{name}: {len(cases) - len(wrong)}/{len(cases)} agree"
    print(line)
    assert not wrong, f"{line}; disagree: {', '.join(wrong[:5])}"
