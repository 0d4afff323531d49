"""A small finished sweep on disk, played once for all tests that read it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from atr_client.cli.app import main
from tests.support.provider_script import short_quickstart

VARIANTS = ("default", "always_ask", "oracle_target")
MODELS = ("offline/asker", "offline/first")
LEARNING, TESTS = 5, 5


@cache
def finished_run() -> Path:
    """The outputs folder: one persona, three variants, two models, five tests each. Tests copy what they
    change."""
    folder = Path(mkdtemp(prefix="atr-finished-"))
    short_quickstart(folder / "episodes", learning=LEARNING, tests=slice(0, TESTS))
    config = {
        "name": "finished",
        "episodes": {"select": ["all"]},
        "variants": list(VARIANTS),
        "models": list(MODELS),
    }
    (folder / "run.yaml").write_text(json.dumps(config))
    arguments = [f"--config={folder / 'run.yaml'}", f"--episodes={folder / 'episodes'}"]
    try:
        main(["run", "--no-progress", *arguments, f"--outputs={folder / 'outputs'}"])
    except SystemExit as stopped:
        assert not stopped.code
    return folder / "outputs"
