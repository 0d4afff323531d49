"""Agents from npm whose own files are their memory: what they write while they learn stands in their prompts
from then on, frozen for the tests, and no test sees what another one wrote."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import anyio
import pytest

from atr_client import run_cell
from atr_client.gateway.command_sessions import command_players
from atr_client.sweep.config import RunConfig
from atr_client.sweep.plan import plan_cells
from atr_data import load_episode, load_trajectory
from atr_memory import MemoryStore
from atr_memory.file_tree import texts_of
from tests.clients.agents_from_npm import AGENTS
from tests.clients.mock_providers import Call, MockProvider
from tests.clients.note_taker import MARK, NoteTaker, mark
from tests.support.gateway import EPISODE, write_episode

SESSIONS = 2
"""Of each kind."""


def _claude(path: str, text: str) -> Call:
    return Call("Write", {"file_path": path, "content": text}, own=True)


def _codex(path: str, text: str) -> Call:
    return Call("exec_command", {"cmd": f"echo {shlex.quote(text)} >> {shlex.quote(path)}"}, own=True)


def _gemini(path: str, text: str) -> Call:
    return Call("write_file", {"file_path": path, "content": text}, own=True)


NOTES = {
    "claude-code": ["{work}/CLAUDE.md", "{memory}/MEMORY.md", *["{work}/CLAUDE.local.md"] * 2],
    "codex": ["AGENTS.md"] * 4,
    "gemini": ["{work}/GEMINI.md", "{memory}/MEMORY.md", *["{work}/GEMINI.md"] * 2],
}
"""Files of two learning and two test sessions: one that the client reads in any folder of that kind, one that
it keeps under the path of the folder; in the tests, files that it would read if they were there."""
WRITES = {"claude-code": _claude, "codex": _codex, "gemini": _gemini}


@pytest.mark.parametrize("name", AGENTS)
def test_what_an_agent_writes_into_its_own_files_is_its_memory(name: str, tmp_path: Path) -> None:
    agent = AGENTS[name]
    episode = load_episode(EPISODE)
    short = episode.model_copy(
        update={
            "learning_sessions": episode.ordered_learning_sessions()[:SESSIONS],
            "test_sessions": episode.test_sessions[:SESSIONS],
        }
    )
    taker = NoteTaker(NOTES[name], WRITES[name])
    with MockProvider(agent.form(), taker) as taker.provider:
        run = {
            "name": "homes",
            "episodes": {"select": [str(write_episode(tmp_path, short))]},
            "memory": "home",
        }
        config = run | {"variants": ["atr"], "models": [agent.model(taker.provider.url)]}
        (cell,) = plan_cells(RunConfig.model_validate(config), tmp_path / "outputs", commands=command_players)
        result = anyio.run(run_cell, cell)
    learned = {mark(number) for number in range(SESSIONS)}
    assert taker.seen == [set(), {mark(0)}, learned, learned], taker.answers
    assert json.loads(cell.folder.manifest.read_text())["memory_snapshot"]
    tests = [load_trajectory(cell.folder.trajectory(test.session_id)) for test in short.test_sessions]
    assert [t.memory_use.discarded_writes for t in tests if t.memory_use] == [1] * SESSIONS
    with MemoryStore(cell.folder.memory) as store:
        kept = "".join(texts_of(entry.text, store) for entry in store.all_entries())
    assert set(MARK.findall(kept)) == learned
    assert len(result.trajectories) == 2 * SESSIONS
    print(agent.package, agent.version, taker.answers)
