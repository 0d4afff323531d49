"""Agents from npm, and programs on two Python frameworks, play sessions as the benchmark starts them.

The model behind each is the offline asker, in a mock of the agent's provider on loopback: what it passes in
process it has to pass through a whole agent, its configuration and the gateway.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest

from atr_client import play_episode, run_cell
from atr_client.cell.definition import Cell
from atr_client.cell.play_episode import EpisodeResult
from atr_client.errors import CellAbort
from atr_client.gateway.command_sessions import command_players
from atr_client.sweep.config import RunConfig
from atr_client.sweep.plan import plan_cells
from atr_data import Episode, load_episode, load_trajectory
from tests.clients.agents_from_npm import AGENTS, OFFLINE
from tests.clients.asker_brain import asker_brain
from tests.clients.mock_providers import Brain, MockProvider
from tests.clients.provider_formats import ResponsesFormat
from tests.conftest import ROOT
from tests.support.gateway import asker, passes, write_episode

LEARNING, TESTS = 6, 4
SPOILED = ROOT / "tests" / "clients" / "spoiled.py"
FRAMEWORKS = ROOT / ".clients" / "python" / "bin" / "python"


def program(example: str, model: str) -> Callable[[str], dict[str, Any]]:
    """The entry of an example on a Python framework, with the provider at some address."""
    return lambda provider: {
        "id": f"cmd/{Path(example).stem.removeprefix('play_with_')}",
        "command": [str(FRAMEWORKS), str(ROOT / "examples" / example), model, "{url}"],
        "environment": {**OFFLINE, "OPENAI_BASE_URL": f"{provider}/v1", "OPENAI_API_KEY": "no-key"},
    }


PROGRAMS = {
    "pydantic_ai": program("play_with_pydantic_ai.py", "openai-responses:gpt-5.4"),
    "openai_agents": program("play_with_openai_agents.py", "gpt-5.4"),
}
VARIANTS = ["atr", "oracle_target"]


def shortened(tests: int = TESTS) -> Episode:
    """The first sessions of both kinds of a persona that ships."""
    return first_sessions(telling_episode(), tests)


@cache
def telling_episode() -> Episode:
    """The first one of whose tests the asker passes some and fails some, in both variants: only there it can
    be seen whether an agent passes the same ones."""
    for path in sorted((ROOT / "data" / "episodes").glob("*_seed000.json")):
        episode = load_episode(path)
        sessions = first_sessions(episode, TESTS)
        played = [anyio.run(play_episode, sessions, variant, asker()) for variant in VARIANTS]
        if all(len(set(passes(result.evaluation).values())) == 2 for result in played):
            return episode
    raise AssertionError("no episode that ships tells agents apart in its first sessions")


def first_sessions(episode: Episode, tests: int) -> Episode:
    return episode.model_copy(
        update={
            "learning_sessions": episode.ordered_learning_sessions()[:LEARNING],
            "test_sessions": episode.test_sessions[:tests],
        }
    )


def cell_of(folder: Path, variant: str, model: dict[str, Any], tests: int) -> Cell:
    path = write_episode(folder, shortened(tests))
    run = RunConfig.model_validate(
        {"name": "real", "episodes": {"select": [str(path)]}, "variants": [variant], "models": [model]}
    )
    (cell,) = plan_cells(run, folder / "outputs", commands=command_players)
    return cell


@cache
def in_process(variant: str) -> EpisodeResult:
    """The same sessions, played by the asker itself."""
    return anyio.run(play_episode, shortened(), variant, asker())


def played(folder: Path, variant: str, model: dict[str, Any], tests: int = TESTS) -> Cell:
    cell = cell_of(folder, variant, model, tests)
    anyio.run(run_cell, cell)
    return cell


def same_as_in_process(cell: Cell, variant: str) -> None:
    expected = passes(in_process(variant).evaluation)
    assert passes(json.loads(cell.folder.evaluation.read_text())) == expected
    print(cell.key.persona_id, variant, expected)
    ends = {t.session_id: t.termination_reason for t in in_process(variant).trajectories}
    assert {n: load_trajectory(cell.folder.trajectory(n)).termination_reason for n in ends} == ends


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_passes_what_its_model_passes_in_process(name: str, variant: str, tmp_path: Path) -> None:
    agent = AGENTS[name]
    with MockProvider(agent.form(), asker_brain) as provider:
        cell = played(tmp_path, variant, agent.model(provider.url))
    same_as_in_process(cell, variant)
    manifest = json.loads(cell.folder.manifest.read_text())
    assert manifest["complete"]
    print(agent.package, agent.version, variant, manifest["clients"])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_passes_what_its_model_passes_in_process(name: str, variant: str, tmp_path: Path) -> None:
    with MockProvider(ResponsesFormat(), asker_brain, server="") as provider:
        cell = played(tmp_path, variant, PROGRAMS[name](provider.url))
    same_as_in_process(cell, variant)


@pytest.mark.parametrize("name", AGENTS)
def test_a_provider_that_fails_in_the_midst_of_a_session_is_no_score(name: str, tmp_path: Path) -> None:
    agent = AGENTS[name]
    with (
        MockProvider(agent.form(), asker_brain, fails_after=2) as provider,
        pytest.raises(CellAbort, match=r"(?s)exit code.*no credit left"),
    ):
        played(tmp_path, "oracle_target", agent.model(provider.url), 1)
    (record,) = tmp_path.rglob("command.json")
    assert json.loads(record.read_text())["calls"] > 0
    assert not list(tmp_path.rglob("trajectories/*.json"))


def silent(conversation: Any, tools: Any) -> tuple[()]:
    return ()


def spoil(what: str, model: dict[str, Any]) -> dict[str, Any]:
    return {**model, "command": [sys.executable, str(SPOILED), what, *model["command"]]}


@pytest.mark.parametrize(
    ("what", "brain", "name", "reason"),
    [
        ("unreachable", asker_brain, "claude-code", "never came to the gateway"),
        ("unreachable", asker_brain, "codex", "exit code 1.*required MCP servers failed"),
        ("unreachable", asker_brain, "gemini", "never came to the gateway"),
        ("nothing", silent, "claude-code", "without a single call"),
        ("nothing", silent, "codex", "without a single call"),
        ("nothing", silent, "gemini", "without a single call"),
        ("unapproved", asker_brain, "claude-code", "refused calls: mcp__atr__"),
        ("unapproved", asker_brain, "codex", "refused calls: .*requires approval"),
        ("unapproved", asker_brain, "gemini", "folder is not trusted"),
        ("half approved", asker_brain, "claude-code", "refused calls: mcp__atr__"),
        ("half approved", asker_brain, "codex", "refused calls: .*requires approval"),
        ("half approved", asker_brain, "gemini", "refused calls: mcp_atr_"),
    ],
)
def test_what_is_wrong_around_the_model_is_no_score(
    what: str, brain: Brain, name: str, reason: str, tmp_path: Path
) -> None:
    agent = AGENTS[name]
    with MockProvider(agent.form(), brain) as provider:
        model = spoil(what, agent.model(provider.url))
        with pytest.raises(CellAbort, match=f"(?s){reason}") as raised:
            played(tmp_path, "oracle_target", model, 1)
    assert raised.value.module == "agent"
    assert not list(tmp_path.rglob("trajectories/*.json"))
