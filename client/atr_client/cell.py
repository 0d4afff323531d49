"""One cell: learn session by session, freeze the memory, test on the frozen memory, score.

Every finished session is on disk before the next step, so a run can be killed at any instant and the same
command goes on from there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import anyio
import filelock
import structlog

from atr_client.attempts import Attempts
from atr_client.errors import CellBusy, PreflightError
from atr_client.isolation import outcome_of
from atr_client.layout import CellFolder, CellKey
from atr_client.logs import cell_log, get_logger
from atr_client.manifest import Manifest, completed, gate, read_manifest, resumed
from atr_client.memory import MemoryClient, open_memory
from atr_client.progress import Progress, Silent
from atr_client.recorder import SessionRecorder
from atr_client.reuse import look_up
from atr_client.rows import CellName, done_row, finished_row
from atr_client.scoring import score_folder
from atr_client.session import context_digest
from atr_client.show import transcript_text
from atr_data.calls import CallLog
from atr_data.constants import ORACLE_VARIANTS
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.files import write_atomic
from atr_data.trajectory import Trajectory
from atr_memory import MemoryStore

_log = get_logger()

ContextSource = Callable[[TestSession], Awaitable[str | None]]


class SessionRunner(Protocol):
    """Plays one session. Raises CellAbort when something around the agent broke."""

    async def __call__(
        self,
        session: LearningSession | TestSession,
        *,
        memory_context: str | None,
        recorder: SessionRecorder,
    ) -> Trajectory: ...


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
    """A cell to be run: what it is, where its files are, and who plays its sessions."""

    key: CellKey
    episode: Episode
    folder: CellFolder
    manifest: Manifest
    run_session: SessionRunner
    options: CellOptions = field(default_factory=CellOptions)

    @property
    def name(self) -> CellName:
        return CellName(self.key, self.manifest.episode_path, self.manifest.privileged)

    @property
    def sessions(self) -> list[LearningSession | TestSession]:
        """In the order of the protocol; oracle variants have no learning sessions."""
        skips_learning = self.key.variant in ORACLE_VARIANTS
        learning = [] if skips_learning else self.episode.ordered_learning_sessions()
        return [*learning, *self.episode.test_sessions]


@dataclass(frozen=True, slots=True)
class CellResult:
    """`trajectories` in the order of the protocol: learning, then test sessions. A skipped cell was done
    before; it has its row only."""

    trajectories: tuple[Trajectory, ...]
    row: Mapping[str, Any]
    skipped: bool = False


async def run_cell(cell: Cell, progress: Progress | None = None) -> CellResult:
    """Runs what is missing of a cell and scores it.

    Raises CellBusy when another process writes to it, ManifestMismatch when its files come from a different
    run, PreflightError when an oracle variant lacks a statement, CellAbort when a session could not be
    played, and whatever else the session runner raises. Finished sessions stay in any case.
    """
    started = time.monotonic()
    with _only_writer(cell.folder), cell_log(cell.folder.run_log, cell.key.cell_id):
        if cell.options.fresh:
            cell.folder.clear()
        cell.folder.remove_temporary_files()
        manifest = _gated_manifest(cell)
        if row := done_row(cell.folder, cell.sessions):
            return CellResult((), row, skipped=True)
        manifest.write(cell.folder.manifest)
        check_oracle(cell.episode, cell.key.variant)
        trajectories = await _Run(cell, progress or Silent()).all_sessions()
        completed(manifest).write(cell.folder.manifest)
        score = score_folder(
            cell.folder,
            cell.episode,
            variant=cell.key.variant,
            trace_footers=cell.options.traces and cell.options.trace_footers,
        )
        duration = time.monotonic() - started
        metrics = score.document["metrics"]
        row = finished_row(cell.name, cell.folder, metrics, trajectories, duration=duration)
        write_atomic(cell.folder.done, json.dumps(row, ensure_ascii=False, indent=2) + "\n")
        _log.info("cell done", sessions=len(trajectories))
        return CellResult(tuple(trajectories), row)


def is_busy(folder: CellFolder) -> bool:
    """Whether some process is writing to the cell right now."""
    if not folder.path.is_dir():
        return False
    try:
        with filelock.FileLock(folder.lock, timeout=0):
            return False
    except filelock.Timeout:
        return True


def check_oracle(episode: Episode, variant: str) -> None:
    """Raises PreflightError unless the statements that an oracle variant shows exist and are not empty."""
    if variant == "oracle_full":
        empty = [rule.rule_id for rule in episode.rules if not rule.canonical_answer.strip()]
        if empty:
            raise PreflightError(f"oracle_full: rules without a canonical_answer: {', '.join(empty)}")
    if variant == "oracle_target":
        for session in episode.test_sessions:
            rule = episode.rule(session.rule_id)
            if rule is None:
                raise PreflightError(
                    f"oracle_target: test {session.session_id} has the unknown rule {session.rule_id}"
                )
            if not rule.canonical_answer.strip():
                raise PreflightError(f"oracle_target: rule {rule.rule_id} has no canonical_answer")


@contextmanager
def _only_writer(folder: CellFolder) -> Generator[None]:
    folder.create()
    try:
        with filelock.FileLock(folder.lock, timeout=0):
            yield
    except filelock.Timeout as error:
        raise CellBusy(f"another process is writing to {folder.path}") from error


def _gated_manifest(cell: Cell) -> Manifest:
    existing = read_manifest(cell.folder.manifest)
    if existing is None:
        return cell.manifest
    options = cell.options
    stale = gate(
        existing, cell.manifest, compatible=options.compatible, allow_stale=options.allow_stale_resume
    )
    if stale:
        _log.warning("going on with sessions of a different run", differs=list(stale))
    return resumed(existing, cell.manifest, stale, compatible=options.compatible)


class _Run:
    """The sessions of one cell in one process."""

    def __init__(self, cell: Cell, progress: Progress) -> None:
        self._cell = cell
        self._progress = progress
        self._variant = cell.key.variant

    async def all_sessions(self) -> list[Trajectory]:
        path = self._cell.folder.calls
        with CallLog(path) as log, MemoryStore() as store:
            self._attempts = Attempts(path, log, self._variant)
            if self._variant == "oracle_target":
                return await self._test(partial(self._own_statement, store))
            namespace = self._cell.key.cell_id
            async with open_memory(store, namespace) as memory:
                learned = [] if self._variant in ORACLE_VARIANTS else await self._learn(memory)
                if not self._cell.episode.test_sessions:
                    return learned
                if self._variant == "oracle_full":
                    await self._tell_everything(memory)
                snapshot_id = await memory.freeze(self._first_test)
            async with open_memory(store, namespace) as frozen:
                await frozen.open_snapshot(snapshot_id, self._first_test)
                return learned + await self._test(lambda s: frozen.render(self._attempts.current(s)))

    @property
    def _first_test(self) -> SessionRecorder:
        return self._attempts.current(self._cell.episode.test_sessions[0])

    async def _learn(self, memory: MemoryClient) -> list[Trajectory]:
        trajectories: list[Trajectory] = []
        for session in self._cell.episode.ordered_learning_sessions():
            context = await memory.render(self._attempts.current(session))
            trajectory = await self._play_or_reuse(session, context)
            await memory.append_session(trajectory, self._attempts.current(session))
            trajectories.append(trajectory)
        return trajectories

    async def _tell_everything(self, memory: MemoryClient) -> None:
        for rule in self._cell.episode.rules:
            await memory.append_prior_statement(rule.canonical_answer, self._first_test)

    async def _own_statement(self, store: MemoryStore, session: TestSession) -> str | None:
        recorder = self._attempts.current(session)
        rule = self._cell.episode.rule(session.rule_id)
        assert rule is not None, "check_oracle ran before"
        async with open_memory(store, f"{self._cell.key.cell_id}/{session.session_id}") as memory:
            await memory.append_prior_statement(rule.canonical_answer, recorder)
            await memory.open_snapshot(await memory.freeze(recorder), recorder)
            return await memory.render(recorder)

    async def _test(self, context_of: ContextSource) -> list[Trajectory]:
        """Test sessions one after the other stop at the first failure; in parallel all of them run to their
        end before the first failure, in the episode's order, is raised."""
        sessions = self._cell.episode.test_sessions
        if self._cell.options.test_sessions == 1:
            return [await self._play_or_reuse(s, await context_of(s)) for s in sessions]
        outcomes: dict[str, Trajectory | Exception] = {}
        limiter = anyio.CapacityLimiter(self._cell.options.test_sessions)

        async def play(session: TestSession) -> None:
            async def one() -> Trajectory:
                return await self._play_or_reuse(session, await context_of(session))

            async with limiter:
                outcomes[session.session_id] = await outcome_of(one)

        async with anyio.create_task_group() as group:
            for session in sessions:
                group.start_soon(play, session)
        return [_unless_failed(outcomes[session.session_id]) for session in sessions]

    async def _play_or_reuse(self, session: LearningSession | TestSession, context: str | None) -> Trajectory:
        with structlog.contextvars.bound_contextvars(session=session.session_id):
            path = self._cell.folder.trajectory(session.session_id)
            found = look_up(
                path,
                session,
                variant=self._variant,
                context_sha256=context_digest(context),
                compatible=self._cell.options.compatible,
            )
            if found.trajectory is not None:
                trajectory = found.trajectory
                self._attempts.end(session)
            else:
                if found.refusal:
                    _log.warning("running again", reason=found.refusal)
                if found.stale:
                    path.unlink()
                trajectory = await self._play(session, context)
            self._write_trace(trajectory, again=found.trajectory is None)
            self._progress.session_done(self._cell.key, trajectory, reused=found.trajectory is not None)
            return trajectory

    async def _play(self, session: LearningSession | TestSession, context: str | None) -> Trajectory:
        recorder = self._attempts.start(session)
        _log.info("session started", attempt=recorder.attempt)
        trajectory = await self._cell.run_session(session, memory_context=context, recorder=recorder)
        write_atomic(self._cell.folder.trajectory(session.session_id), trajectory.model_dump_json(indent=2))
        self._attempts.end(session)
        _log.info(
            "session done",
            termination=trajectory.termination_reason,
            steps=trajectory.step_count,
            seconds=trajectory.duration_seconds,
        )
        return trajectory

    def _write_trace(self, trajectory: Trajectory, *, again: bool) -> None:
        path = self._cell.folder.trace(trajectory.session_id)
        if self._cell.options.traces and (again or not path.exists()):
            path.parent.mkdir(exist_ok=True)
            write_atomic(path, transcript_text(trajectory))


def _unless_failed(outcome: Trajectory | Exception) -> Trajectory:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
