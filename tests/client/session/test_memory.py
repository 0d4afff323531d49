"""The harness's side of the memory."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from atr_client.errors import CellAbort, ContextOverflow, ModelError, OutOfTime
from atr_client.models.base import ModelReply
from atr_client.session.layers import recorded_layer
from atr_client.session.memory import open_memory
from atr_client.session.memory_writer import ModelWriter
from atr_client.session.recorder import SessionRecorder
from atr_client.testing import FunctionModel
from atr_data.calls import CallLog, CallRecord, read_calls
from atr_data.trajectory import Message, Trajectory
from atr_data.usage import Usage
from atr_memory import CONTEXT, MemoryFault, MemoryStore


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


async def test_the_log_has_what_was_said_to_the_memory_and_digests_in_place_of_long_texts(
    tmp_path: Path,
) -> None:
    path = tmp_path / "calls.jsonl"
    trajectory = Trajectory(
        session_id="l0",
        session_type="learning",
        agent_variant="atr",
        messages=[
            Message(role="system", content="s"),
            Message(role="user", content="Grüße", turn_idx=1),
        ],
    )
    with CallLog(path) as log, MemoryStore() as store:
        recorder = SessionRecorder(log, 1, "l0", "learning", "atr")
        async with open_memory(store, "cell", CONTEXT) as memory:
            assert await memory.render(recorder) is None
            await memory.append_session(trajectory, recorder)
            context = await memory.render(recorder, "tea")
    first, appended, rendered = [r for r in read_calls(path) if isinstance(r, CallRecord)]
    assert (first.arguments, json.loads(first.result)) == ({}, {"layer": "context", "context": None})
    dumped = json.dumps([m.model_dump(mode="json") for m in trajectory.messages], ensure_ascii=False)
    digest = hashlib.sha256(dumped.encode("utf-8", "surrogatepass")).hexdigest()
    assert appended.arguments == {"session_id": "l0", "messages": f"sha256:{digest}"}
    assert (appended.turn_idx, appended.call_id, appended.caller) == (2, "append_session", "harness")
    assert json.loads(appended.result) == {"added": True}
    assert context and rendered.arguments == {"query": "tea"}
    shown = {"layer": "context", "context": f"sha256:{hashlib.sha256(context.encode()).hexdigest()}"}
    assert (json.loads(rendered.result), rendered.turn_idx, rendered.is_error) == (shown, 0, False)
    assert all(0 <= record.seconds < 3600 for record in (first, appended, rendered))


async def test_a_text_that_cannot_be_stored_is_refused_and_stands_in_the_log_as_a_digest(
    tmp_path: Path,
) -> None:
    path = tmp_path / "calls.jsonl"
    odd = [Message(role="user", content="\ud800")]
    trajectory = Trajectory(session_id="l0", session_type="learning", agent_variant="atr", messages=odd)
    with CallLog(path) as log, MemoryStore() as store:
        recorder = SessionRecorder(log, 1, "l0", "learning", "atr")
        async with open_memory(store, "cell", CONTEXT) as memory:
            with pytest.raises(CellAbort, match="append_session: text with a lone surrogate"):
                await memory.append_session(trajectory, recorder)
    (call,) = [record for record in read_calls(path) if isinstance(record, CallRecord)]
    assert call.is_error and call.arguments["messages"].startswith("sha256:")


async def test_a_model_that_writes_gets_the_instructions_first_and_answers_in_words() -> None:
    asked: list[tuple[str, str | None]] = []

    def reply(messages: Any, tools: Any) -> ModelReply:
        asked.extend((message.role, message.content) for message in messages)
        assert not tools
        return ModelReply("kept\ud800", usage=Usage(prompt_tokens=3, calls=1))

    written = await ModelWriter(FunctionModel(reply)).write("Shorten.", "A long story.")
    assert asked == [("system", "Shorten."), ("user", "A long story.")]
    assert (written.text, written.usage) == ("kept?", Usage(prompt_tokens=3, calls=1))
    silent = FunctionModel(lambda messages, tools: ModelReply())
    assert (await ModelWriter(silent).write("Shorten.", "")).text == ""


@pytest.mark.parametrize("error", [ModelError("gone"), ContextOverflow("long"), OutOfTime("late")])
async def test_a_model_that_cannot_write_is_a_fault_of_the_memory(error: Exception) -> None:
    def fails(messages: Any, tools: Any) -> ModelReply:
        raise error

    with pytest.raises(MemoryFault, match=f"the model that writes for the memory: {error}"):
        await ModelWriter(FunctionModel(fails)).write("Shorten.", "A long story.")


@pytest.mark.parametrize(
    ("name", "settings", "layer"),
    [
        (None, None, "context"),
        ("context", {}, "context"),
        ("short", {"kind": "retrieval", "top": 3}, "short"),
        ("notes", None, "notes"),
        ("rules", {"kind": "rules", "extractor": "agent"}, None),  # a model made what it keeps
        ("near", {"kind": "retrieval", "by": "encoder"}, None),  # no encoder is at hand here
        ("external", None, None),
        ("lost", {"kind": ["lost"]}, None),
        ("lost", {}, None),
        ("context", {"top": 3}, None),
    ],
)
def test_a_layer_is_made_again_where_transcripts_tell_all_that_it_keeps(
    name: str | None, settings: dict[str, Any] | None, layer: str | None
) -> None:
    found = recorded_layer(name, settings)
    assert (found.name if found else None) == layer
