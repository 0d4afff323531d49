"""One cell whose agent comes from outside: sessions begin when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import anyio

from atr_client.cell.cell_runner import run_cell
from atr_client.cell.definition import Cell
from atr_client.cell.isolation import outcome_of
from atr_client.errors import CellAbort, ConfigError
from atr_client.gateway.hosted_session import HostedSession
from atr_client.gateway.news import News
from atr_client.gateway.person import Person
from atr_client.logs import get_logger
from atr_client.models.base import AgentModel, Model, PerSession
from atr_client.outputs.clients_seen import note_client
from atr_client.outputs.layout import CellKey
from atr_client.session.turns import SessionSettings
from atr_data.episode import LearningSession, TestSession
from atr_data.trajectory import Trajectory

Mode = Literal["learn", "test", "episode"]

_log = get_logger()


class Desk:
    """Runs the cell, and hands its sessions to those who ask.

    The cell is an ordinary one, so it is kept, resumed and scored as any other. Nothing runs before `start`.
    What breaks a session off leaves it without a result; another `start` goes on from there. `person` plays
    the user, when somebody does; `asks_through_client`: she sits at the agent's own client.
    """

    def __init__(
        self, cell_of: Callable[[Model], Cell], settings: SessionSettings, mode: Mode = "episode"
    ) -> None:
        """`cell_of` makes the cell around the agent that it is given; `settings` are its sessions'."""
        self._cell_of = cell_of
        self._cell = cell = cell_of(PerSession(self._agent))
        self._clients: list[Mapping[str, str]] = []
        self._wanted = anyio.Event()
        self._ended = anyio.Event()
        self._news = News()
        self.person: Person | None = None
        self.asks_through_client = False
        self.settings = settings
        self.mode = mode
        self.failure: str | None = None
        self.sessions = {
            session.session_id: HostedSession(session, number)
            for kind in ("learning", "test")
            for number, session in enumerate((s for s in cell.sessions if s.session_type == kind), start=1)
        }

    @property
    def cell(self) -> Cell:
        return self._cell

    @property
    def learning(self) -> Sequence[HostedSession]:
        return [hosted for hosted in self.sessions.values() if not hosted.is_test]

    @property
    def tests(self) -> Sequence[HostedSession]:
        return [hosted for hosted in self.sessions.values() if hosted.is_test]

    @property
    def playable(self) -> Sequence[HostedSession]:
        """The sessions that this mode plays, in order."""
        return [
            *(self.learning if self.mode != "test" else ()),
            *(self.tests if self.mode != "learn" else ()),
        ]

    async def run(self) -> None:
        """Runs the cell each time it is wanted; until cancelled."""
        while True:
            await self._wanted.wait()
            self.failure = await self._cell_run()
            self._wanted = anyio.Event()
            self._ended.set()
            self._settle_rest(broke_off=self.failure is not None)

    async def scored(self) -> None:
        """Waits until a cell whose sessions are all over has been scored as well."""
        if self._wanted.is_set() and all(hosted.is_over for hosted in self.playable):
            await self._ended.wait()

    async def finished(self) -> None:
        """Waits until all sessions are over, and scored."""
        while not all(hosted.is_over for hosted in self.playable):
            await self._news.wait()
        await self.scored()

    def start(self) -> None:
        """Runs the cell, unless it runs; after a failure it is tried again."""
        if not self._wanted.is_set():
            self.failure = None
            self._ended = anyio.Event()
            self._wanted.set()

    async def next_session(self, only: str | None = None) -> HostedSession | None:
        """Begins the next session, or `only` that one, and returns it once the agent may act; None when there
        is none left, or `failure` says why. Waits while sessions before it are being played."""
        candidates = [self.sessions[only]] if only else self.playable
        if not all(hosted.is_over for hosted in candidates):
            self.start()
        while not all(hosted.is_over for hosted in candidates):
            fresh = (h for h in candidates if h.reached and not h.is_over and not h.is_running)
            if (hosted := next(fresh, None)) is not None:
                hosted.admit(self.settings.timeout)
                await hosted.mailbox.settled()
                return hosted
            if self.failure is not None or not self._more_to_come(candidates):
                return None
            await self._news.wait()
        return None

    def note(self, client: Mapping[str, str]) -> None:
        """A program that an agent came with: it goes into the manifest, once."""
        if client not in self._clients:
            self._clients.append(client)
            note_client(self._cell.folder.manifest, client)

    def cell_started(self, key: CellKey, sessions: int) -> None: ...

    def cell_done(self, key: CellKey, row: Mapping[str, Any]) -> None: ...

    def model_waits(self, model_id: str, seconds: float, reason: str) -> None: ...

    def session_done(self, key: CellKey, trajectory: Trajectory, *, reused: bool) -> None:
        """From the cell, once the trajectory is on disk."""
        self.sessions[trajectory.session_id].end(trajectory)
        self._news.tell()

    def _agent(self, session_id: str) -> AgentModel:
        return self.sessions[session_id].mailbox

    def _more_to_come(self, candidates: Sequence[HostedSession]) -> bool:
        """Whether waiting can help: a session that others play need not be waited for."""
        return any(not h.is_over and not h.is_running for h in candidates)

    async def _cell_run(self) -> str | None:
        """What failed, in a word. A cell of its own for each run: what it and its users have gathered goes
        when it is over, for it is on disk."""
        cell = self._cell_of(PerSession(self._agent))
        cell = replace(
            cell,
            admit=self._admitted,
            options=replace(cell.options, test_sessions=max(len(cell.episode.test_sessions), 1)),
            manifest=cell.manifest.model_copy(update={"clients": [dict(c) for c in self._clients]}),
        )
        outcome = await outcome_of(lambda: run_cell(cell, self))
        if not isinstance(outcome, Exception):
            return None
        _log.error("the cell broke off", cell=cell.key.cell_id, error=str(outcome))
        return f"{outcome.module} failed" if isinstance(outcome, CellAbort) else "it failed"

    async def _admitted(self, session: LearningSession | TestSession) -> None:
        hosted = self.sessions[session.session_id]
        if self.mode == "test" and not hosted.is_test:
            raise ConfigError(f"{hosted.name} was not played yet; mode test needs all learning sessions")
        hosted.reached = True
        self._news.tell()
        await hosted.admitted.wait()

    def _settle_rest(self, *, broke_off: bool) -> None:
        """After the cell: all that is not over was over before, or is to be played again."""
        for session_id, hosted in self.sessions.items():
            if hosted.is_over:
                continue
            hosted.end(None)
            if broke_off:
                self.sessions[session_id] = HostedSession(hosted.session, hosted.number)
        self._news.tell()
