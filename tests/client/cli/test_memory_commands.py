"""`memory show`, `memory diff`, and what `doctor` finds out about memory servers."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from atr_client.cell.cell_runner import run_cell
from tests.client.cell.test_memory_layers import LAYERS, cell_of, shelf
from tests.conftest import ROOT
from tests.support.command import run_cli
from tests.support.telling import short_episode

SHELF = str(ROOT / "tests" / "support" / "memory_program.py")


@pytest.mark.parametrize("name", ["context", "rules", "external"])
async def test_it_shows_what_was_kept_and_which_rules_can_be_recovered(tmp_path: Path, name: str) -> None:
    episode = short_episode(2, 1)
    path = tmp_path / "episode.json"
    path.write_text(episode.model_dump_json())
    cell = cell_of(tmp_path, LAYERS[name](), episode)
    manifest = cell.manifest.model_copy(
        update={"memory": dict(LAYERS[name]().settings), "memory_layer": name}
    )

    await run_cell(replace(cell, manifest=manifest))
    shown = run_cli("memory", "show", cell.folder.path, "--episode", path)
    assert shown.exit_code == 0, shown.stderr
    assert f"layer {name}; snapshot " in shown.stdout and "not recorded" not in shown.stdout
    assert f"now recoverable: {episode.rules[0].rule_id}" in shown.stdout
    assert "recoverable: 1 of 1 rules, word for word" in shown.stdout
    assert episode.learning_sessions[0].session_id in shown.stdout


async def test_it_tells_what_only_one_of_two_memories_holds(tmp_path: Path) -> None:
    episode = short_episode(1, 1)
    path = tmp_path / "episode.json"
    path.write_text(episode.model_dump_json())
    cells = [cell_of(tmp_path / name, LAYERS[name](), episode) for name in ("context", "none")]
    for cell, name in zip(cells, ("context", "none"), strict=True):
        await run_cell(cell)
        document = json.loads(cell.folder.manifest.read_text())
        cell.folder.manifest.write_text(
            json.dumps({**document, "memory_layer": name, "memory": {"kind": name}})
        )
    told = run_cli("memory", "diff", *(cell.folder.path for cell in cells), "--episode", path)
    assert told.exit_code == 0, told.stderr
    assert f"- rule {episode.rules[0].rule_id}: {episode.rules[0].canonical_answer}" in told.stdout
    assert "-[user]: " in told.stdout


def test_a_folder_without_a_cell_is_a_fault_of_use(tmp_path: Path) -> None:
    done = run_cli("memory", "show", tmp_path)
    assert done.exit_code == 2 and "there is no cell here" in done.stderr


async def test_a_memory_whose_store_is_gone_is_said(tmp_path: Path) -> None:
    episode = short_episode(1, 1)
    path = tmp_path / "episode.json"
    path.write_text(episode.model_dump_json())
    cell = cell_of(tmp_path, shelf(), episode)
    await run_cell(cell)
    document = json.loads(cell.folder.manifest.read_text())
    cell.folder.manifest.write_text(json.dumps({**document, "memory": {"kind": "external"}}))
    cell.folder.memory.unlink()
    done = run_cli("memory", "show", cell.folder.path, "--episode", path)
    assert done.exit_code != 0 and "and its store is not there" in done.stderr


@pytest.mark.parametrize(
    ("fault", "code", "told"),
    [
        ([], 0, "ready      memory shelf  shelf 7, MCP 2025-06-18, 3 tools; kept what was written"),
        (["--loses"], 1, "a write was lost: word atr"),
        (["--masked"], 1, "told of an error as if there were none"),
    ],
)
def test_doctor_writes_restarts_and_reads(tmp_path: Path, fault: list[str], code: int, told: str) -> None:
    memory: dict[str, Any] = {
        "kind": "external",
        "name": "shelf",
        "command": [sys.executable, SHELF, "{folder}/shelf.json", *fault],
        "probe": {
            "write": {"tool": "remember", "arguments": {"text": "word {marker} word"}},
            "read": {"tool": "recall", "arguments": {"query": "{marker}"}},
        },
    }
    path = tmp_path / "x.yaml"
    path.write_text(
        yaml.safe_dump({"name": "x", "variants": ["atr"], "models": ["offline/asker"], "memory": memory})
    )
    done = run_cli("doctor", "--config", path)
    assert (done.exit_code, done.stderr) == (code, "")
    assert told in " ".join(done.stdout.split("\n    ")).replace("\n", " ")
