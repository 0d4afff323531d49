"""One user with one model, memory mode and history window: one writer, the manifest gate, the sittings.

Every session that is over is on disk before the next step, so a run can be killed at any instant and the same
command goes on from there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import anyio

from atr_client.cell.isolation import outcome_of
from atr_client.logs import cell_log, get_logger
from atr_client.models.meter import Meter
from atr_client.outputs.cell_lock import only_writer
from atr_client.outputs.manifest import Manifest, ManifestFile, completed, gate, read_manifest, resumed
from atr_client.outputs.rows import cost_usd, usage_by_role
from atr_client.outputs.served_models import ServedModels
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.layers import named_layer
from atr_client.session.memory import open_memory
from atr_client.session.recorder import SessionRecorder
from atr_client.timing.history_pass import history_days, play_day
from atr_client.timing.kept_sittings import KeptSittings
from atr_client.timing.note_tool import NotePad, as_remembered, noted, writes_by_tools
from atr_client.timing.played_sitting import PlayedSitting
from atr_client.timing.scoring_plays import score_plays
from atr_client.timing.sitting_runner import SittingSettings, play_sitting
from atr_client.timing.timing_files import TimingFolder, TimingKey
from atr_client.timing.timing_players import AgentOf
from atr_data import DataError
from atr_data.calls import CallLog
from atr_data.files import write_atomic
from atr_data.reading import read_json
from atr_data.timing.set_folder import UserFiles
from atr_data.trajectory import Trajectory
from atr_evaluator.timing import TimingRules, UserPlay
from atr_memory import MemoryLayer, MemoryStore

Row = dict[str, Any]
_SCORES = ("utility", "MCC", "decisions", "needs", "assists", "incomplete_sittings")
_NOTHING = SessionMemory.of_text(None)
_log = get_logger()


async def at_once_admitted(session_id: str) -> None:
    """No session waits."""


def unheard(trajectory: Trajectory) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class TimingCell:
    """`agents` makes the agent of each session; it is called once, when the cell begins. `at_once` sittings
    run together. A session that has to be played waits for `admit`; `on_session` hears of each one that is
    over."""

    key: TimingKey
    files: UserFiles
    folder: TimingFolder
    manifest: Manifest
    agents: Callable[[], AgentOf]
    settings: SittingSettings
    rules: TimingRules = field(default_factory=TimingRules)
    at_once: int = 1
    fresh: bool = False
    allow_stale_resume: bool = False
    served: ServedModels = field(default_factory=ServedModels)
    meter: Meter = field(default_factory=Meter)
    admit: Callable[[str], Awaitable[None]] = at_once_admitted
    on_session: Callable[[Trajectory], None] = unheard

    @property
    def layer(self) -> MemoryLayer:
        """What the memory server keeps notes in, in memory mode `own`."""
        return named_layer(self.key.layer or "context")

    @property
    def session_ids(self) -> list[str]:
        days = list(history_days(self.files.stream)) if self.settings.keeps_notes else []
        return [*days, *(sitting.sitting_id for sitting in self.files.stream.header.sittings)]

    def row(self, *, ok: bool, seconds: float, error: str | None = None) -> Row:
        """The part of a row that is known of every cell."""
        return {
            "cell_id": self.key.cell_id,
            "condition": self.key.condition,
            "user": self.key.user_id,
            "model": self.key.model,
            "memory": self.key.memory,
            "history_window_s": self.key.history_window_s,
            "privileged": self.manifest.privileged,
            "ok": ok,
            "duration_sec": round(seconds, 2),
            "error": error,
            "runs_dir": str(self.folder.path),
        }


async def run_timing_cell(cell: TimingCell) -> Row:
    """Runs what is missing of a cell and returns its row.

    Raises CellBusy when another process writes to it, ManifestMismatch when its files come from a different
    run, BudgetReached at the run's limit on cost, CellAbort when a session could not be played.
    """
    started = time.monotonic()
    with only_writer(cell.folder):
        if cell.fresh:
            cell.folder.clear()
        cell.folder.remove_temporary_files()
        with cell_log(cell.folder.run_log, cell.key.cell_id):
            existing = read_manifest(cell.folder.manifest)
            manifest = _gated(cell, existing)
            if existing is not None and (row := _done_row(cell)):
                return row
            kept = ManifestFile(cell.folder.manifest, manifest)
            tolerant = cell.allow_stale_resume
            cell.served.expect(cell.key.cell_id, kept.served, kept.note_served, tolerant=tolerant)
            with CallLog(cell.folder.calls) as log:
                sittings = KeptSittings.of(cell.folder, log, cell.files.stream.header.sha256)
                trajectories = await _play(cell, sittings)
                logs = [sittings.decisions(one.sitting_id) for one in cell.files.stream.header.sittings]
            cost = cost_usd(usage_by_role(trajectories).values())
            kept.put(completed(kept.manifest, cost))
            play = UserPlay(cell.files.stream, cell.files.gold, tuple(filter(None, logs)))
            score = score_plays([play], cell.rules)
            write_atomic(cell.folder.evaluation, json.dumps(score, indent=1) + "\n")
            row = cell.row(ok=True, seconds=time.monotonic() - started) | _told(trajectories, score, cost)
            write_atomic(cell.folder.done, json.dumps(row, ensure_ascii=False, indent=1) + "\n")
            _log.info("cell done", sessions=len(trajectories))
            return row


def _gated(cell: TimingCell, existing: Mapping[str, Any] | None) -> Manifest:
    if existing is None:
        return cell.manifest
    stale = gate(existing, cell.manifest, allow_stale=cell.allow_stale_resume)
    if stale:
        _log.warning("going on with sessions of a different run", differs=list(stale))
    return resumed(existing, cell.manifest, stale, compatible=False)


def _done_row(cell: TimingCell) -> Row | None:
    """None when anything is left to do."""
    try:
        found = read_json(cell.folder.done)
    except DataError:
        return None
    row = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    files = [cell.folder.trajectory(session_id) for session_id in cell.session_ids]
    files += [cell.folder.decisions(one.sitting_id) for one in cell.files.stream.header.sittings]
    if not all(path.exists() for path in files):
        return None
    here = cell.row(ok=True, seconds=0.0)
    return {**row, **here, "skipped": True} if row.get("cell_id") == cell.key.cell_id else None


def _told(trajectories: Sequence[Trajectory], score: Mapping[str, Any], cost: float | None) -> Row:
    usage = usage_by_role(trajectories).get("agent")
    return {
        "sittings": sum(one.session_type == "test" for one in trajectories),
        "notes": sum(len(noted(one)) for one in trajectories),
        "replies": sum(one.step_count for one in trajectories),
        "tokens_in": usage.prompt_tokens if usage else 0,
        "tokens_out": usage.completion_tokens if usage else 0,
        "calls": usage.calls + usage.calls_without_usage if usage else 0,
        "cost_usd": cost,
        **{name: score[name] for name in _SCORES if name in score},
    }


async def _play(cell: TimingCell, kept: KeptSittings) -> list[Trajectory]:
    agents = cell.agents()
    if cell.settings.keeps_notes:
        return await _play_with_notes(cell, kept, agents)
    ids = [sitting.sitting_id for sitting in cell.files.stream.header.sittings]
    outcomes: dict[str, Trajectory | Exception] = {}
    limiter = anyio.CapacityLimiter(cell.at_once)

    async def one(sitting_id: str) -> None:
        async with limiter:
            outcomes[sitting_id] = await outcome_of(
                partial(_sitting, cell, kept, agents, sitting_id, _NOTHING)
            )

    async with anyio.create_task_group() as group:
        for sitting_id in ids:
            group.start_soon(one, sitting_id)
    return [_unless_failed(outcomes[sitting_id]) for sitting_id in ids]


async def _play_with_notes(cell: TimingCell, kept: KeptSittings, agents: AgentOf) -> list[Trajectory]:
    """The memory is filled by the agent, day by day, then carried from sitting to sitting. It is rebuilt from
    the transcripts each time."""
    trajectories: list[Trajectory] = []
    days = history_days(cell.files.stream)
    with MemoryStore() as store:
        async with open_memory(store, cell.key.cell_id, cell.layer) as memory:
            for session_id in cell.session_ids:
                kind = "learning" if session_id in days else "test"
                seen = await memory.session(kept.recorder(session_id, kind))
                play = _day if session_id in days else _sitting
                trajectory = await play(cell, kept, agents, session_id, seen)
                await memory.append_session(
                    as_remembered(trajectory, cell.layer), kept.recorder(session_id, kind)
                )
                trajectories.append(trajectory)
    return trajectories


async def _day(
    cell: TimingCell, kept: KeptSittings, agents: AgentOf, session_id: str, seen: SessionMemory
) -> Trajectory:
    async def play(recorder: SessionRecorder) -> Trajectory:
        cell.meter.check()
        await cell.admit(session_id)
        events = history_days(cell.files.stream)[session_id]
        async with seen.open(recorder) as memory:
            pad = NotePad(memory, not writes_by_tools(cell.layer), of_day=True)
            return await play_day(agents(session_id), session_id, events, pad)

    trajectory = await kept.day(session_id, seen.digest, play)
    cell.on_session(trajectory)
    return trajectory


async def _sitting(
    cell: TimingCell, kept: KeptSittings, agents: AgentOf, sitting_id: str, seen: SessionMemory
) -> Trajectory:
    async def play(recorder: SessionRecorder) -> PlayedSitting:
        cell.meter.check()
        await cell.admit(sitting_id)
        agent = agents(sitting_id)
        async with seen.open(recorder) as memory:
            pad = NotePad(memory, not writes_by_tools(cell.layer)) if cell.settings.keeps_notes else None
            return await play_sitting(
                agent, cell.files, sitting_id, cell.settings, recorder=recorder, pad=pad
            )

    trajectory = (await kept.sitting(sitting_id, seen.digest, play)).trajectory
    cell.on_session(trajectory)
    return trajectory


def _unless_failed(outcome: Trajectory | Exception) -> Trajectory:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
