"""A session that is called off while its memory opens or is open: the memory closes, and the session ends."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from atr_memory import LAYER_KINDS, LayerHelp, MemoryLayer, MemoryStore
from atr_memory.layers.external import External, ServerSpec
from atr_memory.view import MemoryView
from tests.conftest import ROOT

PROGRAM = ROOT / "tests" / "support" / "memory_program.py"


def external(folder: Path) -> MemoryLayer:
    command = [sys.executable, str(PROGRAM), f"{folder}/shelf.json"]
    return External(ServerSpec(command), {"kind": "external", "command": command})


LAYERS = {
    "notes": lambda folder: LAYER_KINDS["notes"]("notes", {}, LayerHelp()),
    "retrieval": lambda folder: LAYER_KINDS["retrieval"]("retrieval", {}, LayerHelp()),
    "external": external,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("kind", "steps"),
    [
        *(("notes", steps) for steps in range(0, 30, 3)),
        ("retrieval", 4),
        ("retrieval", 25),
        ("external", 10),
        ("external", None),
    ],
)
async def test_a_session_that_is_called_off_ends(kind: str, steps: int | None, tmp_path: Path) -> None:
    """After so many turns of the event loop, or once its memory is open."""
    is_open = anyio.Event()

    async def lives(store: MemoryStore) -> None:
        async with MemoryView(store, "cell", LAYERS[kind](tmp_path)).open():
            is_open.set()
            await anyio.sleep_forever()

    with MemoryStore() as store:
        async with anyio.create_task_group() as sessions:
            sessions.start_soon(lives, store)
            if steps is None:
                await is_open.wait()
            for _ in range(steps or 0):
                await anyio.lowlevel.checkpoint()
            sessions.cancel_scope.cancel()
