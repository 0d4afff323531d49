"""Agents from outside have the same memories: in the instructions, by tools, and of a third party."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from atr_client import play_episode
from atr_client.cell.cell_runner import run_cell
from atr_client.errors import ConfigError
from atr_client.gateway.command_sessions import command_players
from atr_client.gateway.external_cell import ExternalPlay, external_desk
from atr_client.sweep.config import RunConfig
from atr_client.sweep.plan import plan_cells
from atr_data import load_episode
from atr_data.trajectory import Trajectory
from tests.conftest import ROOT
from tests.support.gateway import EPISODE, asker, connected, played, running, scored, write_episode
from tests.support.mcp_player import McpPlayer

SHELF = [sys.executable, "-S", str(ROOT / "tests" / "support" / "memory_program.py"), "{folder}/shelf.json"]
MEMORIES: dict[str, Any] = {
    "rules": "rules",
    "notes": "notes",
    "shelf": {"kind": "external", "name": "shelf", "command": SHELF},
}
AGENT = [sys.executable, str(ROOT / "tests" / "support" / "agent_program.py"), "plays"]


def config_of(folder: Path, memory: Any, **model: Any) -> RunConfig:
    whole = load_episode(EPISODE)
    learning, tests = whole.ordered_learning_sessions()[:3], whole.test_sessions[:2]
    short = whole.model_copy(update={"learning_sessions": learning, "test_sessions": tests})
    episode = write_episode(folder, short)
    plain = {"name": "x", "variants": ["always_ask"], "models": [{"id": "external", **model}]}
    return RunConfig.model_validate({**plain, "episodes": {"select": [str(episode)]}, "memory": memory})


def seen_of(trajectories: list[Trajectory]) -> list[Any]:
    """What each session had of the memory, and what its tests held of their rule."""
    return [
        (
            t.session_id,
            t.rule_readable,
            t.retention and t.retention.stored,
            t.memory_use and (t.memory_use.tool_calls, t.memory_use.pushed_characters),
        )
        for t in trajectories
    ]


async def in_process(config: RunConfig, folder: Path) -> list[Any]:
    (cell,) = plan_cells(config.model_copy(update={"models": [_asker()]}), folder)
    alone = await play_episode(cell.episode, "always_ask", asker(), memory=cell.memory)
    return seen_of(list(alone.trajectories))


def _asker() -> Any:
    return RunConfig.model_validate({"name": "x", "variants": ["atr"], "models": ["offline/asker"]}).models[0]


@pytest.mark.parametrize("name", MEMORIES)
async def test_an_agent_that_plays_over_mcp_has_it_as_one_in_this_process(tmp_path: Path, name: str) -> None:
    config = config_of(tmp_path, MEMORIES[name])
    play = ExternalPlay(Path(config.episodes.select[0]), "always_ask", tmp_path / "outputs", layer=name)
    desk = external_desk(play, config)
    async with running(desk) as seat, connected(seat) as client:
        await McpPlayer(client, asker()).play()
    assert scored(desk)["verified"] is True
    assert seen_of(played(desk)) == await in_process(config, tmp_path)


async def test_a_program_that_is_started_has_the_tools_of_a_third_party(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    model = {"id": "cmd/program", "command": AGENT, "environment": environment}
    config = config_of(tmp_path, MEMORIES["shelf"], **model)
    (cell,) = plan_cells(config, tmp_path / "outputs", commands=command_players)
    result = await run_cell(cell)
    assert seen_of(list(result.trajectories)) == await in_process(config, tmp_path)


@pytest.mark.parametrize(
    ("memory", "layer", "message"),
    [
        ("context", "shelf", "unknown memory layer 'shelf'"),
        ("context", "external", "the memory layer 'external' needs settings"),
        ("home", "home", "a program that is played with keeps its files itself"),
        ("rewrite", "rewrite", "memory rewrite: this agent cannot write for a memory"),
    ],
)
def test_a_layer_that_cannot_be_had_here_is_told(
    tmp_path: Path, memory: str, layer: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        external_desk(ExternalPlay(EPISODE, "atr", tmp_path, layer=layer), config_of(tmp_path, memory))
