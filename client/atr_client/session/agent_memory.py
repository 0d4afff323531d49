"""What one session has of the memory: the text in its prompt, and tools or files on a copy of its own."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from atr_client.errors import CellAbort
from atr_client.models.base import ToolSpec
from atr_client.session.environments import error_text, unusable
from atr_client.session.readability import context_digest
from atr_client.session.recorder import SessionRecorder
from atr_client.session.turns import Environment, ToolOutcome
from atr_data.trajectory import MemoryUse, ToolCall, Trajectory
from atr_memory import FinishedSession, MemoryFault, Offer, StoreError
from atr_memory.view import MemoryView

SERVER = "memory"
_PREFIX = "memory_"


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """`digest` is that of all that the session can see of the memory: a session that was played is the one
    that would be played now when it saw the same. `view` None: there is the text alone."""

    context: str | None
    digest: str
    view: MemoryView | None = None

    @classmethod
    def of_text(cls, context: str | None) -> SessionMemory:
        """A memory that is a text and no more."""
        return cls(context, context_digest(context))

    def has_learned(self, trajectory: Trajectory) -> bool:
        """Whether the memory after a session that was played before is at hand."""
        finished = FinishedSession(trajectory.session_id, trajectory.messages)
        return self.view is None or trajectory.session_type == "test" or self.view.has_learned(finished)

    def unopened(self, recorder: SessionRecorder) -> AgentMemory:
        """The text alone."""
        return AgentMemory(self, recorder)

    @asynccontextmanager
    async def open(self, recorder: SessionRecorder) -> AsyncGenerator[AgentMemory]:
        """The memory for the time of one session. Raises CellAbort when it cannot be had, or fails in it."""
        if self.view is None:
            yield self.unopened(recorder)
            return
        try:
            async with self.view.open() as offer:
                yield AgentMemory(self, recorder, offer)
        except (MemoryFault, StoreError) as error:
            raise CellAbort("memory", recorder.session_id, str(error)) from error


@dataclass(slots=True)
class AgentMemory:
    """An opened memory; `answers` are what its tools have said; a refusal repeats what was asked, and is
    none. A memory that fails, which is never the agent's failure, raises MemoryFault or StoreError, and who
    opened it makes a CellAbort of it."""

    seen: SessionMemory
    recorder: SessionRecorder
    offer: Offer | None = None
    use: MemoryUse = field(default_factory=MemoryUse)
    answers: list[str] = field(default_factory=list[str])
    _names: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def context(self) -> str | None:
        return self.seen.context

    @property
    def folder(self) -> Path | None:
        """Where the agent's own files lie, for the time of the session."""
        return self.offer.folder if self.offer else None

    def tools(self, taken: Sequence[str]) -> list[ToolSpec]:
        """The memory's tools; one whose name is `taken` gets another name."""
        specs: list[ToolSpec] = []
        for tool in self.offer.tools if self.offer else ():
            name = f"{_PREFIX}{tool.name}" if tool.name in taken else tool.name
            self._names[name] = tool.name
            specs.append(ToolSpec(name, tool.description or "", tool.input_schema))
        return specs

    def has(self, name: str) -> bool:
        return name in self._names

    async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
        assert self.offer is not None, "without an offer there are no tools"
        started = time.perf_counter()
        if call.parse_error is not None:
            outcome = unusable(call)
        else:
            try:
                answer = await self.offer.call(self._names[call.name], call.arguments)
            except (MemoryFault, StoreError) as error:
                self._record(call, turn_idx, ToolOutcome(error_text(str(error)), True), started)
                raise
            outcome = ToolOutcome(answer.text, answer.is_error)
        self._record(call, turn_idx, outcome, started)
        return outcome

    async def keep(self, trajectory: Trajectory) -> None:
        """To be called once the session is over. After a learning session the memory learns from it; what a
        test session wrote is counted and thrown away. The trajectory is told what the memory took."""
        view = self.seen.view
        started = time.perf_counter()
        if self.offer is not None:
            await self.offer.close()
            if trajectory.session_type == "test":
                self.use.discarded_writes = await self.offer.writes()
        if view is not None:
            if trajectory.session_type == "learning":
                finished = FinishedSession(trajectory.session_id, trajectory.messages)
                if usage := await view.keep(finished, self.offer):
                    trajectory.token_usage[SERVER] = usage
            self.use.stored_bytes = view.layer.size(view.kept)
        self.use.pushed_characters = len(self.context or "")
        self.use.seconds = round(self.use.seconds + time.perf_counter() - started, 6)
        trajectory.context_sha256 = self.seen.digest
        trajectory.memory_use = self.use

    def _record(self, call: ToolCall, turn_idx: int, outcome: ToolOutcome, started: float) -> None:
        seconds = time.perf_counter() - started
        if not outcome.is_error:
            self.answers.append(outcome.content)
        self.use.tool_calls += 1
        self.use.returned_characters += len(outcome.content)
        self.use.seconds += seconds
        self.recorder.call(
            turn_idx=turn_idx,
            call_id=call.id,
            caller="agent",
            server=SERVER,
            tool=call.name,
            arguments=call.arguments,
            result=outcome.content,
            is_error=outcome.is_error,
            seconds=seconds,
            note="answered by the harness" if call.parse_error is not None else None,
            raw_arguments=call.raw_arguments,
        )


@dataclass(frozen=True, slots=True)
class WithMemory:
    """A session's environment, and the memory's tools beside it."""

    environment: Environment
    memory: AgentMemory

    async def tools(self) -> Sequence[ToolSpec]:
        listed = list(await self.environment.tools())
        return [*listed, *self.memory.tools([tool.name for tool in listed])]

    async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
        reached = self.memory if self.memory.has(call.name) else self.environment
        return await reached.call(call, turn_idx)
