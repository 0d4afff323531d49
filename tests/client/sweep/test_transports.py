"""The same scores however the domain servers are reached."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import run_cli, write_config
from tests.support.provider_script import short_quickstart
from tests.support.run_tree import run_tree

TRANSPORTS = ("in-process", "stdio", "http")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same short cell over each transport; its objects stand in another order than on file."""
    top = tmp_path_factory.mktemp("transports")
    folder = short_quickstart(top / "episodes", learning=1, tests=slice(0, 2))
    episodes = {"select": ["odalys_renner"], "folder": str(folder), "shuffle_references": 3}
    config = write_config(top, episodes=episodes, models=["offline/asker"])
    for name in TRANSPORTS:
        chosen = ("--set", f"transport={name}", "--outputs", top / name, "--no-progress")
        done = run_cli("run", "--config", config, *chosen)
        assert done.exit_code == 0, done.stdout + done.stderr
    return {name: top / name for name in TRANSPORTS}


@pytest.mark.parametrize("name", TRANSPORTS[1:])
def test_a_run_makes_the_same_files_over_every_transport(runs: dict[str, Path], name: str) -> None:
    ours, plain = run_tree(runs[name]), run_tree(runs["in-process"])
    (manifest,) = (place for place in plain if place.endswith("cell_manifest.json"))
    assert plain[manifest].pop("transport", "gone before") in ("in-process", "gone before")
    assert ours[manifest].pop("transport") == name
    assert ours == plain
    calls = next(content for place, content in plain.items() if place.endswith("calls.jsonl"))
    assert sum(map(len, calls.values())) >= 3, "too few calls to tell anything"


def test_a_run_over_another_transport_is_another_run(runs: dict[str, Path]) -> None:
    config = runs["http"].parent / "run.yaml"
    (manifest,) = runs["http"].rglob("cell_manifest.json")
    assert json.loads(manifest.read_text())["transport"] == "http"
    done = run_cli("run", "--config", config, "--outputs", runs["http"], "--no-progress")
    assert done.exit_code == 1
    assert 'transport was "http", is "in-process"' in done.stdout


def test_a_transport_that_is_none_is_refused(tmp_path: Path) -> None:
    config = write_config(tmp_path, models=["offline/asker"], transport="pigeon")
    done = run_cli("run", "--config", config)
    assert done.exit_code == 2
    assert "transport: Input should be 'in-process', 'stdio' or 'http'" in done.stderr
