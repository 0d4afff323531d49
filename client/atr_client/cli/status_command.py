"""The `status` command: how far a sweep is, told by its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import cast

import click

from atr_client.cell.sessions import sessions_of
from atr_client.cli.failures import reported_errors
from atr_client.errors import ConfigError
from atr_client.outputs.cell_lock import is_busy
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.rows import aborted_row
from atr_client.outputs.stored_cells import CellRecord, EpisodeShelf, all_cells, episode_of, find_cells
from atr_client.sweep.tally import Tally
from atr_client.timing.timing_results import StoredCell, planned_sessions, stored_cells
from atr_data import DataError, Episode
from atr_data.reading import read_bytes, read_json
from atr_data.skimming import skim_trajectory
from atr_data.trajectory import Trajectory
from atr_data.variants import VARIANTS


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell on disk: `state` is done, running, broken off or begun. `written` is when each of its sessions
    was, in seconds since the epoch."""

    name: str
    state: str
    planned: int
    trajectories: Sequence[Trajectory]
    written: Sequence[float]
    row: dict[str, object]


def status_command(folders: Sequence[Path], episodes: Path | None) -> int:
    """Reads alone, also while the sweep runs. Returns 3 while cells are not done."""
    with reported_errors():
        shelf = EpisodeShelf()
        of_timing = {folder: stored_cells(folder) for folder in folders}
        found = all_cells([folder for folder in folders if not of_timing[folder] or _has_cells(folder)])
        cells = [
            *(_read(folder, episodes, shelf) for folder in found),
            *(_read_timing(cell) for stored in of_timing.values() for cell in stored),
        ]
    tally = Tally(len(cells), sum(cell.planned for cell in cells))
    for cell in cells:
        for trajectory in cell.trajectories:
            tally.session(trajectory, reused=True)
        if cell.state == "done":
            tally.cell(cell.row)
        else:
            reason = f": {cell.row['error']}" if cell.state == "broken off" else ""
            click.echo(f"{cell.state} {cell.name} ({len(cell.trajectories)}/{cell.planned} sessions){reason}")
    click.echo(", ".join([*tally.parts, *_pace(cells, tally)]))
    return 0 if all(cell.state == "done" for cell in cells) else 3


def _has_cells(folder: Path) -> bool:
    """Of the episodes' track."""
    try:
        return any(True for _ in find_cells(folder))
    except ConfigError:
        return False


def _read_timing(cell: StoredCell) -> _Cell:
    found = list(_trajectories(cell.folder))
    row, state = _state(cell.folder, running=is_busy(cell.folder, patience=0))
    planned = max(len(found), planned_sessions(cell))
    return _Cell(cell.key.cell_id, state, planned, *_apart(found), row or {})


def _read(folder: CellFolder, episodes: Path | None, shelf: EpisodeShelf) -> _Cell:
    record, found = CellRecord.of(folder), list(_trajectories(folder))
    row, state = _state(folder, running=is_busy(folder, patience=0.0))
    name = record.key.cell_id if record.key else folder.path.name
    planned = max(_planned(folder, record, episodes, shelf), len(found))
    return _Cell(name, state, planned, *_apart(found), row or {})


def _trajectories(folder: CellFolder) -> Iterator[tuple[Trajectory, float]]:
    """Those that are whole, and when each was written."""
    for path in sorted(folder.trajectories.glob("*.json")):
        try:
            yield skim_trajectory(path, read_bytes(path)), path.stat().st_mtime
        except (DataError, OSError):
            continue


def _apart(found: Sequence[tuple[Trajectory, float]]) -> tuple[list[Trajectory], list[float]]:
    return [trajectory for trajectory, _ in found], [written for _, written in found]


def _state(folder: CellFolder, *, running: bool) -> tuple[dict[str, object] | None, str]:
    row, state = _done(folder), "done"
    if row is None:
        row, state = aborted_row(folder), "broken off"
    if running:
        return row, "running"
    return row, "begun" if row is None else state


def _done(folder: CellFolder) -> dict[str, object] | None:
    try:
        row = read_json(folder.done)
    except DataError:
        return None
    return cast("dict[str, object]", row) if isinstance(row, dict) else None


def _planned(folder: CellFolder, record: CellRecord, episodes: Path | None, shelf: EpisodeShelf) -> int:
    """0 where the episode is not found."""
    try:
        episode: Episode = episode_of(folder, record, below=episodes, shelf=shelf).episode
    except DataError:
        return 0
    variant = record.variant or ""
    return len(sessions_of(episode, variant)) if variant in VARIANTS else 0


def _pace(cells: Sequence[_Cell], tally: Tally) -> Iterator[str]:
    """The rate of the last minutes, and what it foretells for the cells that have begun."""
    if not any(cell.state == "running" for cell in cells):
        return
    window = 300.0
    now = time()
    recent = [moment for cell in cells for moment in cell.written if now - moment < window]
    if len(recent) > 1:
        rate = len(recent) / max(now - min(recent), 1e-9)
        left = max(tally.sessions - tally.sessions_done, 0) / rate
        yield f"{rate:.1f} sessions/s"
        yield f"about {left / 60:.0f} min left for the cells that have begun"
