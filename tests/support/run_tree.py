"""A run's files, without what differs between two runs of the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from atr_data.calls import read_calls
from atr_evaluator import finished_attempts

_TIMES = ("created_at", "updated_at", "duration_sec", "duration_stats", "inputs_sha256", "runs_dir")
_TIMES_OF_SESSIONS = ("timestamp", "seconds", "milliseconds", "duration_seconds")


def run_tree(outputs: Path) -> dict[str, Any]:
    """All files of a run without their times, by their place; of a call log what counts of it."""
    return {
        str(path.relative_to(outputs)): _content(path)
        for path in sorted(outputs.rglob("*"))
        if path.is_file()
        and "_summary" not in path.parts
        and path.name not in ("run.log", ".lock", ".fetched")
    }


def _content(path: Path) -> Any:
    match path.name:
        case "calls.jsonl":
            attempts = finished_attempts(read_calls(path))
            fields = {"seconds", "attempt"}
            return {
                name: sorted(call.model_dump_json(exclude=fields) for call in attempt.calls)
                for name, attempt in attempts.items()
            }
        case "cell_manifest.json" | "_cell_done.json" | "eval.json":
            return _timeless(json.loads(path.read_text()))
    if path.parent.name == "trajectories":
        return _timeless(json.loads(path.read_text()))
    return [line for line in path.read_text().splitlines() if " steps, " not in line]


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key not in _TIMES + _TIMES_OF_SESSIONS}
    return [_timeless(item) for item in value] if isinstance(value, list) else value
