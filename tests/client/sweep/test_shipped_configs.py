"""Every configuration in configs/ runs: here on a short episode, with a mock in the place of providers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from atr_client.sweep.config_file import packaged_configs
from tests.support.command import run_cli
from tests.support.mock_provider import LlmockServer
from tests.support.provider_script import short_quickstart
from tests.support.timing_sets import saved_set

OFFLINE = {
    "quickstart": 4,
    "mini": 4,
    "sweep": 5,
    "memory": 8,
    "official": 4,
    "official_shuffled": 4,
}
"""How many cells each has with one persona."""

REMOTE = {"local": ("local/default",), "paper": ()}
"""Those that call models."""


@pytest.fixture(scope="module")
def llmock() -> Iterator[LlmockServer]:
    server = LlmockServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return short_quickstart(tmp_path_factory.mktemp("short"), learning=1, tests=slice(0, 1))


def test_none_is_left_out_here() -> None:
    assert sorted(packaged_configs()) == sorted([*OFFLINE, *REMOTE, "memory_servers", "timing"])


@pytest.mark.parametrize("name", sorted(OFFLINE))
def test_an_offline_configuration_plays(name: str, tmp_path: Path, episodes: Path) -> None:
    chosen = ("--select", "odalys_renner", "--episodes", episodes, "--set", "processes=1")
    done = run_cli("run", "--config", name, *chosen, "--outputs", tmp_path, "--no-progress")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert len(list(tmp_path.rglob("_cell_done.json"))) == OFFLINE[name]


@pytest.mark.parametrize("name", sorted(REMOTE))
def test_a_configuration_with_models_plays(
    name: str, tmp_path: Path, episodes: Path, llmock: LlmockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mock's models say a sentence, which ends a test session; nobody plays the user there."""
    for provider in ("OPENAI", "DEEPSEEK", "DASHSCOPE", "MINIMAX"):
        monkeypatch.setenv(f"{provider}_BASE_URL", f"{llmock.url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{llmock.url}/anthropic")
    monkeypatch.setenv("GEMINI_BASE_URL", f"{llmock.url}/gemini")
    for provider in ("OPENAI", "DEEPSEEK", "DASHSCOPE", "MINIMAX", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{provider}_API_KEY", "test-key")
    here = ("--set", f"models.0.base_url={llmock.url}/v1") if name == "local" else ()
    chosen = ("--select", "odalys_renner", "--episodes", episodes, "--variant", "oracle_target", *here)
    done = run_cli("run", "--config", name, *chosen, "--outputs", tmp_path, "--no-progress")
    assert done.exit_code == 0, done.stdout + done.stderr
    rows = [json.loads(path.read_text()) for path in tmp_path.rglob("_cell_done.json")]
    assert len(rows) == (8 if name == "paper" else 1)
    assert all(row["tok_agent_calls"] for row in rows)


def test_the_timing_track_plays(tmp_path: Path) -> None:
    small = saved_set(tmp_path / "set")
    chosen = ("--set", f"set={{folder: {small}}}", "--model", "offline/never", "--model", "offline/oracle")
    done = run_cli("run", "--config", "timing", *chosen, "--outputs", tmp_path / "o", "--no-progress")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "offline/oracle" in done.stdout
