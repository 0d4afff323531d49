"""Memory servers that cannot be copied: frozen by a tool, or not at all and marked so."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from atr_client import play_episode
from atr_client.agents import OFFLINE_MODELS
from atr_memory import FinishedSession, MemoryFault, MemoryLayer, MemoryStore
from atr_memory.registry import LAYER_KINDS, LayerHelp
from atr_memory.view import MemoryView
from tests.conftest import ROOT
from tests.support.memory_at_url import Ledger
from tests.support.telling import short_episode, telling_users

PROGRAM = str(ROOT / "tests" / "support" / "memory_program.py")
BY_TOOL = {"tool": "keep_state", "open": "set_back"}


def layer(freeze: Any, **settings: Any) -> MemoryLayer:
    return LAYER_KINDS["external"](
        "external", {"kind": "external", "freeze": freeze, **settings}, LayerHelp()
    )


async def lived(view: MemoryView, name: str, text: str) -> None:
    async with view.open() as offer:
        assert offer is not None
        await offer.call("remember", {"text": text})
        await offer.close()
        await view.keep(FinishedSession(name, ()), offer)


async def a_test(view: MemoryView, text: str) -> list[str]:
    """A session that reads, and then writes."""
    async with view.open() as offer:
        assert offer is not None
        found = json.loads((await offer.call("recall", {"query": "tea"})).text)
        await anyio.sleep(0.02)
        await offer.call("remember", {"text": text})
        return found


async def frozen_view(store: MemoryStore, view: MemoryView) -> MemoryView:
    frozen = MemoryView(store, "cell", view.layer)
    frozen.open_snapshot(await view.freeze())
    return frozen


@pytest.mark.parametrize("freeze", [BY_TOOL, "none"])
async def test_tests_do_not_teach_each_other_where_a_tool_freezes_and_do_where_none_does(freeze: Any) -> None:
    found: list[list[str]] = []
    async with Ledger().at_url() as url:
        with MemoryStore() as store:
            view = MemoryView(store, "cell", layer(freeze, url=url))
            assert view.layer.settings["control"] == ("uncontrolled" if freeze == "none" else "by tool")
            await lived(view, "s1", "I drink tea")
            frozen = await frozen_view(store, view)

            async def session(number: int) -> None:
                found.append(await a_test(frozen, f"tea number {number}"))

            if freeze == "none":
                for number in range(3):
                    await session(number)
                assert [len(texts) for texts in found] == [1, 2, 3]
                return
            async with anyio.create_task_group() as group:
                for number in range(6):
                    group.start_soon(session, number)
    assert found == [["I drink tea"]] * 6


@pytest.mark.parametrize(
    ("freeze", "names", "message"),
    [
        ({"tool": "keep_state", "open": "set_back", "argument": "name"}, True, "set_back was refused"),
        ({"tool": "no_such", "open": "set_back"}, True, "no_such"),
        (BY_TOOL, False, "keep_state answered nothing by which a snapshot can be opened"),
    ],
)
async def test_a_freeze_that_does_not_happen_is_a_fault(freeze: Any, names: bool, message: str) -> None:
    async with Ledger(names).at_url() as url:
        with MemoryStore() as store:
            view = MemoryView(store, "cell", layer(freeze, url=url))
            await lived(view, "s1", "I drink tea")
            with pytest.raises(MemoryFault, match=message):
                await a_test(await frozen_view(store, view), "tea")


@pytest.mark.parametrize("freeze", [BY_TOOL, "none"])
async def test_an_episode_is_played_on_it(freeze: Any) -> None:
    async with Ledger().at_url() as url:
        memory = layer(freeze, url=url)
        assert (await memory.identify())["server"] == "ledger"
        played = await play_episode(
            short_episode(),
            "always_ask",
            OFFLINE_MODELS["offline/asker"].model(),
            user=telling_users(),
            memory=memory,
            at_once=2,
        )
    tests = [t for t in played.trajectories if t.session_type == "test"]
    assert [(t.retention.stored, t.retention.findable) for t in tests if t.retention] == [(None, None)] * 2
    assert [t.rule_readable for t in tests] == [True, True]


async def test_nobody_at_the_url_is_a_fault_in_one_line(free_tcp_port: int) -> None:
    with pytest.raises(MemoryFault, match=r"^the memory server: [^\n]+$"):
        await layer("none", url=f"http://127.0.0.1:{free_tcp_port}/mcp", timeout=5).identify()


async def test_a_program_that_is_not_copied_keeps_its_files_beside_the_store(tmp_path: Path) -> None:
    memory = layer("none", command=[sys.executable, PROGRAM, "{folder}/shelf.json"])
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        view = MemoryView(store, "cell", memory)
        assert memory.settings["control"] == "uncontrolled"
        await lived(view, "s1", "I drink tea")
        frozen = await frozen_view(store, view)
        assert [len(await a_test(frozen, "tea again")) for _ in range(2)] == [1, 2]
    assert json.loads((tmp_path / "memory_live" / "shelf.json").read_text())[0] == "I drink tea"
