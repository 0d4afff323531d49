"""The npm package @copilotkit/aimock as an Anthropic that refuses thinking without its signature."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.limits import exit_code, killed_when_late


@contextmanager
def running_aimock(command: str, folder: Path, replies: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Runs aimock on a free port of loopback until the block ends; gives its root address.

    `replies` in the form of aimock's fixtures answer the turns of a conversation in order. `folder` takes its
    configuration.
    """
    fixtures = [{"match": {"turnIndex": turn}, "response": reply} for turn, reply in enumerate(replies)]
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": fixtures}), encoding="utf-8")
    config = {"strict": True, "llm": {"fixtures": str(folder / "fixtures.json")}}
    (folder / "aimock.json").write_text(json.dumps(config), encoding="utf-8")
    started = [command, "--config", str(folder / "aimock.json"), "--port", "0"]
    with subprocess.Popen(
        started, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True
    ) as process:
        try:
            with killed_when_late(process, "the start of aimock"):
                address = _address(process)
            yield address
        finally:
            process.terminate()
            exit_code(process, "aimock")


def _address(process: subprocess.Popen[str]) -> str:
    told = ""
    for line in process.stdout or ():
        told += line
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found.group()
    raise RuntimeError(f"aimock did not start: {told}")
