"""What a cell is: its key, its files, and who plays its sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from atr_client.cell.sessions import sessions_of
from atr_client.outputs.cell_archive import CellArchive
from atr_client.outputs.commits import Commits
from atr_client.outputs.layout import CellFolder, CellKey
from atr_client.outputs.manifest import Manifest
from atr_client.outputs.rows import CellName
from atr_client.outputs.served_models import ServedModels
from atr_client.session.agent_memory import AgentMemory
from atr_client.session.recorder import SessionRecorder
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Trajectory
from atr_memory import MemoryLayer


class SessionRunner(Protocol):
    """Plays one session. Raises CellAbort when something around the agent broke."""

    async def __call__(
        self,
        session: LearningSession | TestSession,
        *,
        memory: AgentMemory,
        recorder: SessionRecorder,
    ) -> Trajectory: ...


class Admission(Protocol):
    """Returns when a session may begin."""

    async def __call__(self, session: LearningSession | TestSession) -> None: ...


async def at_once(session: LearningSession | TestSession) -> None:
    """No session waits."""


@dataclass(frozen=True, slots=True)
class CellOptions:
    """`test_sessions` is how many test sessions may run at once. `fresh` starts over. `compatible` reuses
    what the original benchmark would reuse. `allow_stale_resume` goes on in spite of a manifest of another
    run. `traces` writes a readable transcript per session, `trace_footers` its gold check."""

    test_sessions: int = 1
    fresh: bool = False
    compatible: bool = False
    allow_stale_resume: bool = False
    traces: bool = True
    trace_footers: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell to be run: what it is, where its files are, who plays its sessions, and what the servers of its
    models call themselves. A session that has to be played waits for `admit`. `memory` is its layer; left
    out, the one that the key names. `commits` writes its trajectories. `archive` is where its files are kept
    when its folder is only where it is played."""

    key: CellKey
    episode: Episode
    folder: CellFolder
    manifest: Manifest
    run_session: SessionRunner
    options: CellOptions = field(default_factory=CellOptions)
    served: ServedModels = field(default_factory=ServedModels)
    admit: Admission = at_once
    memory: MemoryLayer | None = None
    commits: Commits = field(default_factory=Commits)
    archive: CellArchive | None = None

    @property
    def name(self) -> CellName:
        return CellName(self.key, self.manifest.episode_path, self.manifest.privileged)

    @property
    def sessions(self) -> list[LearningSession | TestSession]:
        return sessions_of(self.episode, self.key.variant)


@dataclass(frozen=True, slots=True)
class CellResult:
    """`trajectories` in the order of the protocol: learning, then test sessions. A skipped cell was done
    before; it has its row only."""

    trajectories: tuple[Trajectory, ...]
    row: Mapping[str, Any]
    skipped: bool = False
