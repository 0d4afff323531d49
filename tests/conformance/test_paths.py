"""Run folders against the `path` vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from atr_client.outputs.layout import DEFAULT_MODEL, CellKey
from tests.support.vectors import read_jsonl, report


def _agrees(case: dict[str, Any]) -> bool:
    args = dict(case["args"])
    model = args.pop("model") or DEFAULT_MODEL
    return CellKey(model=model, layer=args.pop("memory_layer"), **args).cell_id == case["expected"]


def test_run_folders_agree(conformance_dir: Path) -> None:
    cases = [case for case in read_jsonl(conformance_dir / "components.jsonl") if case["kind"] == "path"]
    report("components.jsonl (path)", cases, _agrees)
