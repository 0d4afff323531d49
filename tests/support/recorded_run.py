"""The recorded run of the quickstart persona that lies in tests/client/recordings, and how it is made.

`python -m tests.support.recorded_run`, called in the repository's root, makes it again. A change of prompts
or of the wording of tools makes that necessary.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from atr_client.agents.asker import Asker
from atr_client.cli.app import main
from tests.support.command import write_config
from tests.support.mock_provider import LlmockServer
from tests.support.provider_script import offline_script, short_quickstart

RECORDINGS = Path(__file__).resolve().parent.parent / "client" / "recordings"
STORE = RECORDINGS / "store"
EPISODES = RECORDINGS / "episodes"
NAMES = {"agent": "m1", "router": "r1", "classifier": "c1", "simulator": "s1"}
NOWHERE = "http://127.0.0.1:9"


def config(folder: Path, url: str = NOWHERE, **changes: Any) -> Path:
    """The run's configuration, for a provider at `url`: the agent over one wire, the user over another."""
    shared = {"key": "LAB_API_KEY", "price": {"input": 1.0, "output": 2.0}}
    models = {
        f"lab/{name}": {"wire": "openai_responses", "base_url": f"{url}/v1", **shared}
        for name in NAMES.values()
    }
    models["lab/m1"] |= {"wire": "anthropic", "base_url": f"{url}/anthropic", "max_output_tokens": 4096}
    keys: dict[str, Any] = {
        "variants": ["always_ask"],
        "models": ["lab/m1"],
        "registry": {"models": models},
        "user_sim": {"make": "model", "router": "lab/r1", "classifier": "lab/c1", "simulator": "lab/s1"},
        "limits": {"cells": 1, "test_sessions": 1, "call_attempts": 1},
    }
    return write_config(folder, **(keys | changes))


def run_arguments(config_file: Path, outputs: Path, *more: object) -> list[str]:
    places = ["--config", config_file, "--episodes", EPISODES, "--outputs", outputs]
    return [str(argument) for argument in ("run", "--no-progress", *places, *more)]


def _make(folder: Path) -> None:
    shutil.rmtree(RECORDINGS, ignore_errors=True)
    short_quickstart(EPISODES, learning=3, tests=slice(2, 4))
    script, _ = offline_script(folder / "offline", EPISODES, Asker(), "always_ask", NAMES)
    server = LlmockServer()
    server.start()
    server.queue(*script)
    os.environ["LAB_API_KEY"] = "recorded-against-a-mock"
    try:
        main(run_arguments(config(folder, server.url), folder / "outputs", "--record", STORE))
    finally:
        server.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        _make(Path(temporary))
    sys.exit(0)
