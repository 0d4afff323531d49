"""Running one cell: one writer, the manifest gate, the sessions, the score.

Every finished session is on disk before the next step, so a run can be killed at any instant and the same
command goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import anyio.to_thread

from atr_client.cell.attempts import Attempts
from atr_client.cell.cell_memory import check_server, layer_of_cell, note_snapshot, store_of_cell
from atr_client.cell.definition import Cell, CellResult
from atr_client.cell.kept_sessions import KeptSessions
from atr_client.cell.learn_freeze_test import LearnFreezeTest, check_statements
from atr_client.cell.progress import Progress, Silent
from atr_client.errors import StoreFault
from atr_client.logs import cell_log, get_logger
from atr_client.outputs.cell_lock import only_writer
from atr_client.outputs.manifest import (
    Manifest,
    ManifestFile,
    completed,
    gate,
    mark_stale,
    read_manifest,
    resumed,
)
from atr_client.outputs.rows import Row, cost_usd, done_row, failed_row, finished_row, usage_by_role
from atr_client.outputs.scoring import score_folder
from atr_data.calls import CallLog
from atr_data.files import write_atomic
from atr_data.json_text import indented_json
from atr_data.trajectory import Trajectory

_log = get_logger()


async def run_cell(cell: Cell, progress: Progress | None = None) -> CellResult:
    """Runs what is missing of a cell and scores it.

    Raises CellBusy when another process writes to it, ManifestMismatch when its files come from a different
    run, PreflightError when an oracle variant lacks a statement, CellAbort when a session could not be
    played, StoreFault when its archive cannot be read or written, and whatever else the session runner
    raises. Finished sessions stay in any case.
    """
    started = time.monotonic()
    with only_writer(cell.folder):
        await anyio.to_thread.run_sync(_prepare, cell)
        with cell_log(cell.folder.run_log, cell.key.cell_id):
            existing = read_manifest(cell.folder.manifest)
            manifest = _gated_manifest(cell, existing)
            # Without a manifest nobody knows which run a done marker speaks of.
            if existing is not None and (
                row := done_row(cell.name, cell.folder, cell.episode, cell.sessions)
            ):
                if mark_stale(cell.folder.manifest, existing, manifest.stale_fields) and cell.archive:
                    await anyio.to_thread.run_sync(cell.archive.commit, cell.folder)
                return CellResult((), row, skipped=True)
            kept = ManifestFile(cell.folder.manifest, manifest)
            cell.served.expect(
                cell.key.cell_id, kept.served, kept.note_served, tolerant=cell.options.allow_stale_resume
            )
            check_statements(cell.episode, cell.key.variant)
            trajectories = await _played(cell, kept, progress or Silent(), started)
            cost = cost_usd(usage_by_role(trajectories).values()) if manifest.agent == "model" else None
            row = await anyio.to_thread.run_sync(_finish, cell, kept, cost, trajectories, started)
            if cell.archive:
                await anyio.to_thread.run_sync(cell.archive.commit, cell.folder)
            _log.info("cell done", sessions=len(trajectories))
            return CellResult(tuple(trajectories), row)


def _prepare(cell: Cell) -> None:
    """What there is of the cell lies in its folder afterwards."""
    if cell.options.fresh:
        cell.folder.clear()
    if cell.archive and cell.options.fresh:
        cell.archive.clear()
    elif cell.archive:
        cell.archive.bring(cell.folder)
    cell.folder.remove_temporary_files()


async def _played(cell: Cell, file: ManifestFile, progress: Progress, started: float) -> list[Trajectory]:
    """What breaks a run off stands in the cell's folder until it goes on: such a cell has no score."""
    cell.folder.aborted.unlink(missing_ok=True)
    try:
        return await _play(cell, file, progress)
    except Exception as error:
        row = failed_row(cell.name, error, duration=time.monotonic() - started)
        with suppress(OSError, StoreFault):
            write_atomic(cell.folder.aborted, indented_json(row))
            if cell.archive:
                await anyio.to_thread.run_sync(cell.archive.keep, cell.folder)
        raise


async def _play(cell: Cell, file: ManifestFile, progress: Progress) -> list[Trajectory]:
    layer = layer_of_cell(cell)
    await check_server(cell, layer, file)
    with CallLog(cell.folder.calls) as log, store_of_cell(cell, layer) as store:
        way = LearnFreezeTest(
            cell.episode,
            cell.key.variant,
            KeptSessions(cell, progress, Attempts(cell.folder.calls, log, cell.key.variant)),
            store,
            layer,
            cell.key.cell_id,
            cell.options.test_sessions,
            partial(note_snapshot, file),
        )
        return await way.run()


def _finish(
    cell: Cell, kept: ManifestFile, cost: float | None, trajectories: Sequence[Trajectory], started: float
) -> Row:
    kept.put(completed(kept.manifest, cost))
    row = _scored_row(cell, trajectories, started)
    write_atomic(cell.folder.done, indented_json(row))
    return row


def _scored_row(cell: Cell, trajectories: Sequence[Trajectory], started: float) -> Row:
    score = score_folder(
        cell.folder,
        cell.episode,
        variant=cell.key.variant,
        trace_footers=cell.options.trace_footers,
    )
    duration = time.monotonic() - started
    return finished_row(
        cell.name,
        cell.folder,
        score.document["metrics"],
        trajectories,
        duration=duration,
        verified=score.verified,
    )


def _gated_manifest(cell: Cell, existing: dict[str, Any] | None) -> Manifest:
    if existing is None:
        return cell.manifest
    options = cell.options
    stale = gate(
        existing, cell.manifest, compatible=options.compatible, allow_stale=options.allow_stale_resume
    )
    if stale:
        _log.warning("going on with sessions of a different run", differs=list(stale))
    return resumed(existing, cell.manifest, stale, compatible=options.compatible)
