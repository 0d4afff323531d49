"""Many test sessions that read, and write to, one snapshot at once: none has anything of another."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest

from atr_data.trajectory import Message, ToolCall
from atr_memory import LAYER_KINDS, FinishedSession, LayerHelp, MemoryStore, Offer
from atr_memory.view import MemoryView
from tests.conftest import ROOT

PROGRAM = str(ROOT / "tests" / "support" / "memory_program.py")
SHELF = {"command": [sys.executable, "-S", PROGRAM, "{folder}/shelf"], "freeze": {"copy": ["{folder}"]}}
LAYERS: dict[str, dict[str, Any]] = {
    "notes": {},
    "retrieval": {},
    "class": {"path": "tests.support.memory_classes:WithTools"},
    "home": {},
    "external": SHELF,
}


@cache
def learned() -> FinishedSession:
    call = ToolCall(id="c", name="memory_save", arguments={"text": "I drink tea"})
    messages = [
        Message(role="user", content="I drink tea"),
        Message(role="assistant", tool_calls=[call], turn_idx=1),
        Message(role="tool", tool_call_id="c", content="{}", turn_idx=2),
    ]
    return FinishedSession("s1", messages)


async def wrote(name: str, offer: Offer, text: str) -> None:
    match name:
        case "notes":
            await offer.call("memory_save", {"text": text})
        case "class":
            await offer.call("pin", {"text": text})
        case "home":
            assert offer.folder
            with (offer.folder / "home" / "diary").open("a") as diary:
                diary.write(f"{text}\n")
        case "external":
            await offer.call("remember", {"text": text})
        case _:
            pass


async def read(name: str, offer: Offer, view: MemoryView) -> str:
    match name:
        case "notes":
            return (await offer.call("memory_search", {"query": "tea"})).text
        case "retrieval":
            return (await offer.call("memory_search", {"query": "tea"})).text
        case "class":
            return str(view.render("tea"))
        case "home":
            assert offer.folder
            return (offer.folder / "home" / "diary").read_text()
        case _:
            return (await offer.call("recall", {"query": "tea"})).text


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("on_disk", [False, True])
async def test_64_sessions_at_once(tmp_path: Path, name: str, on_disk: bool) -> None:
    if name == "external" and not on_disk:
        pytest.skip("64 processes once are enough")
    layer = LAYER_KINDS[name](name, {"kind": name, **LAYERS[name]}, LayerHelp())
    with MemoryStore(tmp_path / "memory.sqlite" if on_disk else ":memory:") as store:
        view = MemoryView(store, "cell", layer)
        async with view.open() as offer:
            assert offer is not None
            await wrote(name, offer, "I drink tea")
            await offer.close()
            await view.keep(learned(), offer)
        assert await view.append_session(learned())
        frozen = MemoryView(store, "cell", layer)
        frozen.open_snapshot(await view.freeze())
        found: list[str] = []
        written: list[int] = []

        async def session(number: int) -> None:
            async with frozen.open() as offer:
                assert offer is not None
                found.append(await read(name, offer, frozen))
                await wrote(name, offer, f"tea number {number}")
                written.append(await offer.writes())

        async with anyio.create_task_group() as group:
            for number in range(64):
                group.start_soon(session, number)
        assert len(found) == 64 and len(set(found)) == 1
        assert "tea" in found[0] and "number" not in found[0]
        assert written == [0 if name == "retrieval" else 1] * 64
