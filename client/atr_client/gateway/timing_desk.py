"""One cell of the timing track whose agent comes from outside: sessions begin when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import anyio

from atr_client.cell.isolation import outcome_of
from atr_client.errors import CellAbort
from atr_client.gateway.hosted_session import HostedSession
from atr_client.gateway.news import News
from atr_client.logs import get_logger
from atr_client.models.base import AgentModel
from atr_client.outputs.clients_seen import note_client
from atr_client.timing.history_pass import history_days
from atr_client.timing.timing_cell import TimingCell, run_timing_cell
from atr_data.trajectory import Trajectory

_log = get_logger()


@dataclass(frozen=True, slots=True)
class TimingSession:
    """A sitting, or a day of the past."""

    session_id: str
    session_type: Literal["learning", "test"]


class TimingDesk:
    """Runs the cell and hands its sessions out, one after the other. What breaks a session off leaves it
    without a result; asking for the next one goes on from there. Nothing runs before somebody asks."""

    def __init__(self, cell: TimingCell) -> None:
        self.cell = replace(
            cell,
            agents=self._agents,
            at_once=max(1, len(cell.session_ids)),
            admit=self._admitted,
            on_session=self._session_done,
        )
        self._wanted = anyio.Event()
        self._news = News()
        self._clients: list[Mapping[str, str]] = []
        self.failure: str | None = None
        self.is_over = False
        days = set(history_days(cell.files.stream))
        sessions = [TimingSession(s, "learning" if s in days else "test") for s in cell.session_ids]
        self.sessions = {
            session.session_id: HostedSession(session, number)
            for kind in ("learning", "test")
            for number, session in enumerate((s for s in sessions if s.session_type == kind), start=1)
        }

    async def run(self) -> None:
        """Runs the cell each time it is wanted; until cancelled."""
        while True:
            await self._wanted.wait()
            self.failure = await self._cell_run()
            self._wanted = anyio.Event()
            if self.failure is not None:
                self._start_over()
            else:
                self.is_over = True
                for hosted in self.sessions.values():
                    if not hosted.is_over:
                        hosted.end(None)
            self._news.tell()

    async def _cell_run(self) -> str | None:
        """What failed, in a word. Nothing else of the run is kept: it is on disk."""
        outcome = await outcome_of(lambda: run_timing_cell(self.cell))
        if not isinstance(outcome, Exception):
            return None
        _log.error("the cell broke off", cell=self.cell.key.cell_id, error=str(outcome))
        return f"{outcome.module} failed" if isinstance(outcome, CellAbort) else "it failed"

    async def next_session(self, only: str | None = None) -> HostedSession | None:
        """Begins the next session, or `only` that one, and returns it once the agent may act; None when there
        is none left, or `failure` says why. Waits while sessions before it are being played."""
        if not self.is_over and not self._wanted.is_set():
            self.failure = None
            self._wanted.set()
        while not self.is_over and self.failure is None:
            candidates = [self.sessions[only]] if only else list(self.sessions.values())
            fresh = (h for h in candidates if h.reached and not h.is_over and not h.is_running)
            if (hosted := next(fresh, None)) is not None:
                hosted.admit(self.cell.settings.limits.timeout)
                await hosted.mailbox.settled()
                return hosted
            if not any(not h.is_over and not h.is_running for h in candidates):
                return None
            await self._news.wait()
        return None

    async def scored(self) -> None:
        """Waits until a cell whose sessions are all over has been scored as well."""
        while self._wanted.is_set() and all(hosted.is_over for hosted in self.sessions.values()):
            await self._news.wait()

    def note(self, client: Mapping[str, str]) -> None:
        """A program that an agent came with: it goes into the manifest, once."""
        if client not in self._clients:
            self._clients.append(client)
            note_client(self.cell.folder.manifest, client)

    def _agents(self) -> Callable[[str], AgentModel]:
        return lambda session_id: self.sessions[session_id].mailbox

    async def _admitted(self, session_id: str) -> None:
        for client in self._clients:
            note_client(self.cell.folder.manifest, client)
        hosted = self.sessions[session_id]
        hosted.reached = True
        self._news.tell()
        await hosted.admitted.wait()

    def _session_done(self, trajectory: Trajectory) -> None:
        hosted = self.sessions[trajectory.session_id]
        hosted.end(trajectory)
        self._news.tell()

    def _start_over(self) -> None:
        for session_id, hosted in self.sessions.items():
            if not hosted.is_over:
                hosted.end(None)
                self.sessions[session_id] = HostedSession(hosted.session, hosted.number)
