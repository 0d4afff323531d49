"""The memory section of a configuration: one layer or several, each of a kind with keys of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from atr_client.errors import ConfigError, ManifestMismatch
from atr_client.outputs.manifest import gate, read_manifest
from atr_client.sweep.config import RunConfig
from atr_client.sweep.config_file import load_config
from atr_client.sweep.memory_layers import layer_of
from atr_client.sweep.plan import plan_cells
from tests.conftest import ROOT

HEAD = "name: x\nvariants: [atr]\nmodels: [offline/asker]\n"
COMMAND = [sys.executable, "server.py", "{folder}/file"]


def config_of(memory: Any, **keys: Any) -> RunConfig:
    plain = {"name": "x", "variants": ["atr"], "models": ["offline/asker"], **keys}
    return RunConfig.model_validate({**plain, "memory": memory})


@pytest.mark.parametrize(
    ("memory", "names"),
    [
        ("notes", ["notes"]),
        (["none", "context"], ["none", "context"]),
        ([{"kind": "retrieval"}, {"kind": "retrieval", "read": "pushed"}], ["retrieval", "retrieval-pushed"]),
        ({"kind": "retrieval", "by": "encoder"}, ["retrieval-encoder"]),
        ({"kind": "rules", "extractor": "agent"}, ["rules-model"]),
        ({"kind": "class", "path": "a.b:Graph"}, ["class-Graph"]),
        (
            {"kind": "external", "command": ["node", "/opt/dist/index.js"], "freeze": "none"},
            ["external-index"],
        ),
        ({"kind": "external", "command": COMMAND, "name": "shelf"}, ["shelf"]),
    ],
)
def test_layers_have_names_of_their_own(memory: Any, names: list[str]) -> None:
    assert [choice.layer_name for choice in config_of(memory).memory] == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory: native\n", "native memory cannot be used"),
        ("memory_layer: native\n", "native memory cannot be used"),
        ("memory: note\n", "does not match any of the expected tags: 'none', 'context', 'notes'"),
        ("memory: [notes, notes]\n", "two layers are called 'notes'; give one of them a name"),
        ("memory: {kind: retrieval, topp: 3}\n", "unknown key; did you mean 'top'"),
        ("memory: {kind: external, command: [/m], freeze: {tol: x}}\n", "unknown key"),
        (
            "memory: {kind: external, command: [/m], freeze: {tool: x, argumnt: y}}\n",
            "unknown key; one of: copy",
        ),
        ("memory: {kind: external, command: [/m], freeze: {copy: [x], als: y}}\n", "unknown key"),
        ("memory: {kind: retrieval, top: 0}\n", "greater than or equal to 1"),
        ("memory: {kind: notes, name: a/b}\n", "'a/b' is no plain name"),
        ("memory: {kind: external}\n", "give either command or url"),
        ("memory: {kind: external, command: [npx, -y, thing]}\n", "npx runs packages; install the server"),
        ("memory: {kind: external, command: [uv, run, thing]}\n", "uv runs packages"),
        ("memory: {kind: external, command: [serve, memory.db]}\n", "nothing in command or env tells"),
        (
            'memory: {kind: external, command: [serve, "{folder}/a"], freeze: {copy: [memory.db]}}\n',
            "freeze.copy: 'memory.db' does not lie below {folder}",
        ),
        (
            'memory: {kind: external, command: [serve, "{folder}/a"], freeze: {copy: ["{folder}/../b"]}}\n',
            "does not lie below {folder}",
        ),
        ("memory: {kind: external, url: 'http://127.0.0.1:1/mcp'}\n", "cannot be copied; a tool, or none"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(HEAD + text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ({"kind": "class", "path": "no.such:Thing"}, "memory class-Thing: path: 'no.such:Thing' cannot be"),
        ("home", "home is for agents that are programs"),
    ],
)
def test_a_layer_that_cannot_be_had_here_is_refused(memory: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        layer_of(config_of(memory).memory[0], agent=object())  # pyright: ignore[reportArgumentType]


def test_an_agent_that_is_shown_the_answers_cannot_write_a_memory(tmp_path: Path) -> None:
    config = config_of("rewrite", models=["offline/gold"], episodes={"select": ["odalys_renner"]})
    with pytest.raises(ConfigError, match="memory rewrite: this agent cannot write for a memory"):
        plan_cells(config, tmp_path)


def test_every_layer_of_the_shipped_configuration_has_cells_of_its_own(tmp_path: Path) -> None:
    config = load_config(ROOT / "configs" / "memory.yaml")
    cells = plan_cells(config, tmp_path)
    assert len(cells) == len(config.memory) * 5
    folders = {cell.folder.path.name.split("__")[2] for cell in cells}
    assert folders == {f"layer-{choice.layer_name}" for choice in config.memory}
    assert {cell.manifest.memory["kind"] for cell in cells} == {choice.kind for choice in config.memory}


def test_settings_of_a_layer_gate_a_resume(tmp_path: Path) -> None:
    def cell_of(top: int) -> Any:
        (cell,) = plan_cells(
            config_of({"kind": "retrieval", "top": top}, episodes={"select": ["odalys_renner"]}), tmp_path
        )
        return cell

    first = cell_of(5)
    first.folder.create()
    first.manifest.write(first.folder.manifest)
    existing = read_manifest(first.folder.manifest)
    assert existing is not None
    with pytest.raises(ManifestMismatch, match=r"memory differs in top: memory\.top was 5, is 6"):
        gate(existing, cell_of(6).manifest)


def test_the_configuration_of_a_third_partys_server_says_how_it_is_started_and_kept(tmp_path: Path) -> None:
    config = load_config(ROOT / "configs" / "memory_servers.yaml")
    cells = plan_cells(config, tmp_path)
    assert [cell.manifest.memory["kind"] for cell in cells] == ["none", "external"]
    assert cells[1].manifest.memory["control"] == "copied"
    assert cells[1].key.layer == "external-frugal-memory"
