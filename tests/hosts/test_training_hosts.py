"""The adapters of `integrations/`, each in its own environment, score a model as a run of ours does.

Run by `make test-hosts`. The step host runs in our environment, the adapter in its own; the model is the
offline asker behind a mock of Chat Completions.
"""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from atr_client import play_episode
from tests.clients.asker_brain import bare_asker
from tests.clients.mock_providers import MockProvider
from tests.clients.provider_formats import ChatFormat
from tests.conftest import ROOT
from tests.support.gateway import EPISODE, asker

OFFLINE = {
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost",
}
VARIANTS = ["atr", "oracle_target"]


def bin_of(host: str) -> Path:
    return ROOT / ".clients" / host / "bin"


@contextmanager
def step_host(folder: Path) -> Iterator[dict[str, str]]:
    """Serves the episode; its address and token as the adapters read them."""
    token = folder / "token"
    command = [sys.executable, "-m", "atr_client.cli", "serve-episodes", str(EPISODE), "--port", "0"]
    with subprocess.Popen(
        [*command, "--token-file", str(token)], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        try:
            told = "".join(process.stderr.readline() for _ in range(2))
            (url,) = re.findall(r"(http://[^/\s]+)/episodes", told)
            yield {"ATR_STEP_URL": url, "ATR_STEP_TOKEN": token.read_text()}
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0


def in_process(variant: str) -> tuple[int, int]:
    """Tests passed, and tests."""
    metrics = anyio.run(play_episode, str(EPISODE), variant, asker()).evaluation["metrics"]
    return metrics["success_count"], metrics["total_test"]


@contextmanager
def openenv_server(environment: dict[str, str]) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [bin_of("openenv") / "uvicorn", "atr_openenv:app", "--port", port, "--log-level", "warning"]
    with subprocess.Popen(command, env=environment) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(600):
                try:
                    httpx2.get(f"{url}/health").raise_for_status()
                    break
                except httpx2.HTTPError:
                    assert process.poll() is None
                    time.sleep(0.1)
            yield url
        finally:
            process.terminate()


def ran(command: list[str | Path], environment: dict[str, str], folder: Path) -> str:
    ended = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize("variant", VARIANTS)
def test_openenv_scores_as_a_run_does(variant: str, tmp_path: Path) -> None:
    program = ROOT / "integrations" / "openenv" / "play_openenv.py"
    with step_host(tmp_path) as where, MockProvider(ChatFormat(), bare_asker, server="") as provider:
        environment = {**OFFLINE, **where, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        with openenv_server(environment) as server:
            tasks = httpx2.post(f"{server}/atr/num_tasks", json={"split": "served"}).json()
            python = bin_of("openenv") / "python"
            arguments = [server, f"{provider.url}/v1", "mock", EPISODE.stem, variant]
            played = json.loads(ran([python, program, *arguments], environment, tmp_path).splitlines()[-1])
    passed, tests = in_process(variant)
    assert played == {"reward": passed, "passed": passed, "tests": tests}
    assert tasks["num_tasks"] == 1


def test_verifiers_scores_as_a_run_does(tmp_path: Path) -> None:
    with step_host(tmp_path) as where, MockProvider(ChatFormat(), bare_asker, server="") as provider:
        environment = {**OFFLINE, **where, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "NO_KEY": "none"}
        program = ROOT / "tests" / "hosts" / "play_verifiers.py"
        python = bin_of("verifiers") / "python"
        printed = ran(
            [python, program, where["ATR_STEP_URL"], f"{provider.url}/v1", *VARIANTS], environment, tmp_path
        )
    played = json.loads(printed.splitlines()[-1])
    for variant in VARIANTS:
        passed, tests = in_process(variant)
        name = f"{EPISODE.stem}/{variant}"
        assert played[name] == {"reward": passed / tests, "metrics": {"tests_passed": passed, "tests": tests}}
