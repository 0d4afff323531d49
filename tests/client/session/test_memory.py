"""The harness's side of the memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from atr_client.errors import CellAbort
from atr_client.session.memory import open_memory
from atr_client.session.recorder import SessionRecorder
from atr_data.calls import CallLog, CallRecord, read_calls
from atr_memory import CONTEXT, MemoryStore


async def test_a_write_that_the_memory_refuses_stops_the_cell_and_is_in_the_call_log(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with CallLog(path) as log, MemoryStore() as store:
        recorder = SessionRecorder(log, 1, "t0", "test", "atr")
        async with open_memory(store, "cell", CONTEXT) as memory:
            await memory.open_snapshot(await memory.freeze(recorder), recorder)
            with pytest.raises(CellAbort, match="memory failed in session t0: append_prior_statement: "):
                await memory.append_prior_statement("I walk.", recorder)
    last = list(read_calls(path))[-1]
    assert isinstance(last, CallRecord)
    assert (last.tool, last.is_error) == ("append_prior_statement", True)


async def test_a_memory_that_does_not_answer_stops_the_cell(tmp_path: Path) -> None:
    with CallLog(tmp_path / "calls.jsonl") as log, MemoryStore() as store:
        recorder = SessionRecorder(log, 1, "t0", "test", "atr")
        async with open_memory(store, "cell", CONTEXT) as memory:
            store.close()
            with pytest.raises(
                CellAbort, match=r"memory failed in session t0: render_context: .*the memory store failed"
            ):
                await memory.render(recorder)
