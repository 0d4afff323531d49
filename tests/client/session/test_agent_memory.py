"""What a session has of its memory: faults at every step, and what is counted."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.types import Tool

from atr_client import play_episode
from atr_client.errors import CellAbort
from atr_client.models.base import ModelReply
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.readability import context_digest
from atr_client.session.recorder import SessionRecorder
from atr_client.testing import FunctionModel
from atr_data.calls import CallLog, CallRecord, read_calls
from atr_data.trajectory import ToolCall, Trajectory
from atr_data.usage import Usage
from atr_memory import Answer, Entry, FinishedSession, Kept, MemoryFault, MemoryLayer, Offer, StoreError
from atr_memory.layer import Learned
from tests.support.cells import small_episode

RECALL = Tool(name="recall", input_schema={"type": "object", "properties": {}})


class Shelf(MemoryLayer):
    """A memory with one tool; raises `error` at the step `breaks`, in learning sessions or in tests. What it
    shows is asked for twice, for the prompt and for its digest."""

    name = "shelf"
    follows = relearns = False
    offers = True

    def __init__(self, breaks: str = "", error: Exception | None = None, *, in_tests: bool = False) -> None:
        self.breaks, self.error, self.in_tests = breaks, error, in_tests
        self.learned_from: list[bool] = []
        self.shown = 0

    def step(self, name: str, frozen: bool = False) -> None:
        if name == self.breaks and frozen == self.in_tests:
            assert self.error
            raise self.error

    def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
        self.shown += 1
        self.step("render" if self.shown % 2 else "digest")
        return "".join(entry.text for entry in entries) or None

    def size(self, kept: Kept) -> int:
        self.step("size", kept.frozen)
        return 100 + len(kept.entries)

    async def learn(self, kept: Kept, session: FinishedSession, offer: Offer | None) -> Learned:
        self.step("learn")
        self.learned_from.append(offer is not None)
        return Learned("kept", Usage(prompt_tokens=9, calls=1))

    @asynccontextmanager
    async def open(self, kept: Kept) -> AsyncGenerator[Offer | None]:
        self.step("open", kept.frozen)
        yield Opened(self, kept.frozen)


class Opened:
    tools: Sequence[Tool] = (RECALL,)
    folder: Path | None = None

    def __init__(self, layer: Shelf, frozen: bool) -> None:
        self.layer, self.frozen, self.closed = layer, frozen, False

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        assert name == "recall"
        self.layer.step("call", self.frozen)
        return Answer("remembered", arguments.get("wrong", False))

    async def close(self) -> None:
        self.layer.step("close", self.frozen)
        self.closed = True

    async def writes(self) -> int:
        assert self.closed
        self.layer.step("writes", self.frozen)
        return 3


def recalls(messages: Any, tools: Any) -> ModelReply:
    """Calls the memory's tool rightly, so that it answers with an error, and in a way that nobody can read;
    then ends."""
    assert [tool.description for tool in tools if tool.name == "recall"] == [""]
    if any(message.role == "tool" for message in messages):
        end = next(tool.name for tool in tools if tool.name in ("send_to_user", "finish_session"))
        said = {"output": "Goodbye.", "reason": "r"} if end == "send_to_user" else {}
        return ModelReply(tool_calls=[ToolCall(id="e", name=end, arguments=said)])
    return ModelReply(
        tool_calls=[
            ToolCall(id="a", name="recall"),
            ToolCall(id="b", name="recall", arguments={"wrong": True}),
            ToolCall(id="c", name="recall", parse_error="no JSON"),
        ]
    )


async def played(layer: MemoryLayer, log: Path) -> Sequence[Trajectory]:
    episode = small_episode(learning=2, tests=1)
    result = await play_episode(episode, "default", FunctionModel(recalls), memory=layer, log=log)
    return result.trajectories


def memory_calls(log: Path, session_id: str) -> list[CallRecord]:
    """Those of the agent in one session."""
    records = [record for record in read_calls(log) if isinstance(record, CallRecord)]
    return [r for r in records if (r.server, r.caller, r.session_id) == ("memory", "agent", session_id)]


@pytest.mark.parametrize("error", [MemoryFault("out of ink"), StoreError("out of ink")])
@pytest.mark.parametrize(
    ("breaks", "in_tests"),
    [
        ("render", False),
        ("digest", False),
        ("open", False),
        ("call", False),
        ("close", False),
        ("learn", False),
        ("size", False),
        ("open", True),
        ("call", True),
        ("close", True),
        ("writes", True),
        ("size", True),
    ],
)
async def test_a_memory_that_fails_is_never_the_failure_of_its_agent(
    tmp_path: Path, breaks: str, in_tests: bool, error: Exception
) -> None:
    layer = Shelf(breaks, error, in_tests=in_tests)
    session = "t0" if in_tests else "l0"
    log = tmp_path / "calls.jsonl"
    with pytest.raises(CellAbort) as caught:
        await played(layer, log)
    assert (caught.value.module, caught.value.session_id) == ("memory", session)
    assert caught.value.reason == ("render_context: out of ink" if breaks == "render" else "out of ink")
    if breaks == "call":
        (call,) = memory_calls(log, session)
        assert (call.result, call.is_error, call.note) == ('{"error": "out of ink"}', True, None)


async def test_what_a_memory_takes_and_holds_is_counted(tmp_path: Path) -> None:
    began = time.perf_counter()
    layer = Shelf()
    trajectories = await played(layer, log := tmp_path / "calls.jsonl")
    elapsed = time.perf_counter() - began
    assert layer.learned_from == [True, True]
    memory = [trajectory.token_usage.get("memory") for trajectory in trajectories]
    assert memory == [Usage(prompt_tokens=9, calls=1)] * 2 + [None]
    uses = [use for trajectory in trajectories if (use := trajectory.memory_use)]
    assert [use.discarded_writes for use in uses] == [0, 0, 3]
    assert [use.stored_bytes for use in uses] == [100, 101, 102]
    assert [use.pushed_characters for use in uses] == [0, 4, 8]
    assert 0 < sum(use.seconds for use in uses) <= elapsed
    for trajectory, use in zip(trajectories, uses, strict=True):
        calls = memory_calls(log, trajectory.session_id)
        assert [(call.call_id, call.is_error) for call in calls] == [("a", False), ("b", True), ("c", True)]
        assert use.tool_calls == 3
        assert use.returned_characters == sum(len(call.result) for call in calls)
        assert use.seconds >= round(sum(call.seconds for call in calls), 5)


@pytest.mark.parametrize("kind", ["learning", "test"])
@pytest.mark.parametrize("text", [None, "A text."])
async def test_a_memory_that_is_a_text_keeps_nothing(tmp_path: Path, kind: Any, text: str | None) -> None:
    with CallLog(tmp_path / "calls.jsonl") as log:
        memory = SessionMemory.of_text(text).unopened(SessionRecorder(log, 1, "s", kind, "atr"))
    trajectory = Trajectory(session_id="s", session_type=kind, agent_variant="atr")
    assert memory.seen.has_learned(trajectory)
    async with memory.seen.open(memory.recorder) as opened:
        assert (opened.context, opened.offer) == (text, None)
    await memory.keep(trajectory)
    assert trajectory.context_sha256 == context_digest(text)
    assert trajectory.memory_use == memory.use and memory.use.pushed_characters == len(text or "")
    assert (memory.use.stored_bytes, memory.use.discarded_writes, trajectory.token_usage) == (0, 0, {})
    assert (memory.tools([]), memory.folder) == ([], None)


async def test_the_digest_in_a_trajectory_is_of_all_that_its_session_could_see(tmp_path: Path) -> None:
    """Here the prompt shows nothing in two of the sessions, and what the tools could tell is not the same."""

    class Silent(Shelf):
        def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
            return None

    trajectories = await played(Silent(), tmp_path / "calls.jsonl")
    assert len({trajectory.context_sha256 for trajectory in trajectories}) == 3
