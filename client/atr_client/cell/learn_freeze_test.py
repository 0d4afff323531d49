"""The way of an episode: learn session by session, freeze the memory, test on what it holds.

It knows neither files nor models: `Sessions` plays a session, or has it already.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import anyio

from atr_client.cell.isolation import outcome_of
from atr_client.errors import PreflightError
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.memory import MemoryClient, open_memory
from atr_client.session.recorder import SessionRecorder
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Trajectory
from atr_data.variants import VARIANTS
from atr_memory import MemoryLayer, MemoryStore

MemorySource = Callable[[TestSession], Awaitable[SessionMemory]]


class Sessions(Protocol):
    """Plays the sessions of one episode in one variant."""

    def recorder(self, session: LearningSession | TestSession) -> SessionRecorder:
        """Records calls that the harness makes on a session's behalf."""
        ...

    async def play(self, session: LearningSession | TestSession, memory: SessionMemory) -> Trajectory:
        """Raises CellAbort when something around the agent broke."""
        ...


def check_statements(episode: Episode, variant: str) -> None:
    """Raises PreflightError unless the statements that an oracle shows exist and are not empty."""
    told = VARIANTS[variant].statements
    if told == "all":
        empty = [rule.rule_id for rule in episode.rules if not rule.canonical_answer.strip()]
        if empty:
            raise PreflightError(f"{variant}: rules without a canonical_answer: {', '.join(empty)}")
    if told == "own":
        for session in episode.test_sessions:
            rule = episode.rule(session.rule_id)
            if rule is None:
                raise PreflightError(
                    f"{variant}: test {session.session_id} has the unknown rule {session.rule_id}"
                )
            if not rule.canonical_answer.strip():
                raise PreflightError(f"{variant}: rule {rule.rule_id} has no canonical_answer")


@dataclass(frozen=True, slots=True)
class LearnFreezeTest:
    """`namespace` names the episode's memory in the store. `at_once` is how many test sessions may run
    together; `on_frozen` is told the id of the snapshot that they read. Statements are checked before: see
    `check_statements`."""

    episode: Episode
    variant: str
    sessions: Sessions
    store: MemoryStore
    layer: MemoryLayer
    namespace: str
    at_once: int
    on_frozen: Callable[[str], None] = lambda _: None

    async def run(self) -> list[Trajectory]:
        """All trajectories in the order of the protocol."""
        variant = VARIANTS[self.variant]
        if variant.statements == "own":
            return await self._test(self._own_statement)
        async with self._memory(self.namespace) as memory:
            learned = [] if variant.is_oracle else await self._learn(memory)
            if not self.episode.test_sessions:
                return learned
            if variant.statements == "all":
                await self._tell_everything(memory)
            snapshot_id = await memory.freeze(self._first_test)
        self.on_frozen(snapshot_id)
        async with self._memory(self.namespace) as frozen:
            await frozen.open_snapshot(snapshot_id, self._first_test)
            return learned + await self._test(
                lambda s: frozen.session(self.sessions.recorder(s), s.instruction)
            )

    def _memory(self, namespace: str):
        return open_memory(self.store, namespace, self.layer)

    @property
    def _first_test(self) -> SessionRecorder:
        return self.sessions.recorder(self.episode.test_sessions[0])

    async def _learn(self, memory: MemoryClient) -> list[Trajectory]:
        trajectories: list[Trajectory] = []
        for session in self.episode.ordered_learning_sessions():
            seen = await memory.session(self.sessions.recorder(session))
            trajectory = await self.sessions.play(session, seen)
            await memory.append_session(trajectory, self.sessions.recorder(session))
            trajectories.append(trajectory)
        return trajectories

    async def _tell_everything(self, memory: MemoryClient) -> None:
        for rule in self.episode.rules:
            await memory.append_prior_statement(rule.canonical_answer, self._first_test)

    async def _own_statement(self, session: TestSession) -> SessionMemory:
        recorder = self.sessions.recorder(session)
        rule = self.episode.rule(session.rule_id)
        assert rule is not None, "check_statements ran before"
        async with self._memory(f"{self.namespace}/{session.session_id}") as memory:
            await memory.append_prior_statement(rule.canonical_answer, recorder)
            await memory.open_snapshot(await memory.freeze(recorder), recorder)
            return await memory.session(recorder, session.instruction)

    async def _test(self, memory_of: MemorySource) -> list[Trajectory]:
        """Test sessions one after the other stop at the first failure; in parallel all of them run to their
        end before the first failure, in the episode's order, is raised."""
        tests = self.episode.test_sessions
        if self.at_once == 1:
            return [await self.sessions.play(s, await memory_of(s)) for s in tests]
        outcomes: dict[str, Trajectory | Exception] = {}
        limiter = anyio.CapacityLimiter(self.at_once)

        async def play(session: TestSession) -> None:
            async def one() -> Trajectory:
                return await self.sessions.play(session, await memory_of(session))

            async with limiter:
                outcomes[session.session_id] = await outcome_of(one)

        async with anyio.create_task_group() as group:
            for session in tests:
                group.start_soon(play, session)
        return [_unless_failed(outcomes[session.session_id]) for session in tests]


def _unless_failed(outcome: Trajectory | Exception) -> Trajectory:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
