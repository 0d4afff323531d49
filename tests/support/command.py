"""Calling the command line in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from atr_client.cli.app import main


def call(*arguments: object) -> int:
    """The exit code of `atr-client ARGUMENTS`."""
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    code = stopped.value.code or 0
    assert isinstance(code, int)
    return code


@dataclass(frozen=True, slots=True)
class Done:
    """What a command printed, and how it ended."""

    exit_code: int
    stdout: str
    stderr: str


def run_cli(*arguments: object) -> Done:
    """`atr-client ARGUMENTS`."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = call(*arguments)
    return Done(code, out.getvalue(), err.getvalue())


def write_config(folder: Path, **keys: Any) -> Path:
    """A run configuration of the quickstart's persona, unless the keys say otherwise; JSON is YAML."""
    path = folder / "run.yaml"
    one = {"name": "x", "episodes": {"select": ["odalys_renner*"]}, "variants": ["atr"]}
    path.write_text(json.dumps({**one, **keys}), encoding="utf-8")
    return path


def without_times(path: Path) -> str:
    """A trajectory's text without what differs between two equal sessions."""
    document = json.loads(path.read_text(encoding="utf-8"))
    document["duration_seconds"] = 0.0
    if document.get("memory_use"):
        document["memory_use"]["seconds"] = 0.0
    for message in document["messages"]:
        message["timestamp"] = ""
    return json.dumps(document, ensure_ascii=False, indent=2)


def trajectories(outputs: Path) -> Mapping[str, str]:
    """All trajectories of a run without their times, by their place."""
    found = sorted(outputs.rglob("trajectories/*.json"))
    return {str(path.relative_to(outputs)): without_times(path) for path in found}


def only_row(outputs: Path) -> dict[str, Any]:
    """The row of a run's one cell, from its done marker."""
    (path,) = outputs.rglob("_cell_done.json")
    return json.loads(path.read_text(encoding="utf-8"))
