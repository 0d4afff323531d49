"""A report of folders that may still grow: what has changed is read again, cell by cell."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from atr_client.outputs.layout import CellFolder
from atr_client.outputs.report_sessions import packed_cell
from atr_client.outputs.scored_cells import checked, read_cell
from atr_client.outputs.stored_cells import all_cells
from atr_evaluator.aggregate.settings import ScoredCell
from atr_evaluator.report.page import Overview, PackedCell, fragment, overview

Signature = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the report says at one moment. `waiting` cells were seen, and not read yet."""

    version: str
    cells: Sequence[ScoredCell]
    sessions: Sequence[PackedCell]
    overview: Overview
    waiting: int

    @property
    def told(self) -> str:
        more = f", {self.waiting} still to be read" if self.waiting else ""
        rows = sum(len(one.rows) for one in self.sessions)
        complete = sum(cell.complete for cell in self.cells)
        return f"{complete} of {len(self.cells)} cells complete, {rows:,} sessions{more}"


@dataclass(slots=True)
class LiveReport:
    """Reads in `step`, which one thread calls again and again; `current` is what others show meanwhile.

    A cell keeps its number as long as the report lives, so that a page that was opened earlier stays right.
    """

    folders: Sequence[Path]
    episodes: Path | None = None
    _read: dict[Path, tuple[Signature, ScoredCell, PackedCell, list[str]]] = field(
        default_factory=dict[Path, tuple[Signature, ScoredCell, PackedCell, list[str]]]
    )
    _order: list[Path] = field(default_factory=list[Path])
    _current: Snapshot | None = None
    _drawn: tuple[str, str] | None = None
    _drawing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def current(self) -> Snapshot:
        assert self._current is not None, "step ran before"
        return self._current

    def step(self, seconds: float = 1.0) -> bool:
        """Reads for about so long; whether anything is new. Raises ConfigError as `scored_cells` does."""
        found = {folder.path: folder for folder in all_cells(self.folders)}
        self._order += [path for path in found if path not in self._order]
        until = time.monotonic() + seconds
        stale = [path for path in self._order if path in found and self._has_changed(found[path])]
        read = 0
        while read < len(stale) and (not read or time.monotonic() < until):
            self._read_cell(found[stale[read]], self._order.index(stale[read]))
            read += 1
        return self._publish(len(stale) - read)

    def fragment(self) -> str:
        """Charts and tables of the current snapshot; drawn once for each."""
        snapshot = self.current
        with self._drawing:
            if self._drawn is None or self._drawn[0] != snapshot.version:
                self._drawn = (snapshot.version, fragment(snapshot.overview))
            return self._drawn[1]

    def _has_changed(self, folder: CellFolder) -> bool:
        read = self._read.get(folder.path)
        return read is None or read[0] != _signature(folder)

    def _read_cell(self, folder: CellFolder, number: int) -> None:
        signature = _signature(folder)
        cell, problems = read_cell(folder, self.episodes), list[str]()
        packed = packed_cell(number, cell, self.episodes, problems)
        self._read[folder.path] = (signature, cell, packed, problems)

    def _publish(self, waiting: int) -> bool:
        known = [self._read[path] for path in self._order if path in self._read]
        version = hashlib.sha256(repr([read[0] for read in known]).encode()).hexdigest()
        if self._current and (self._current.version, self._current.waiting) == (version, waiting):
            return False
        found = checked([read[1] for read in known])
        problems = [problem for read in known for problem in read[3]]
        told = overview(found.cells, [*found.warnings, *problems])
        self._current = Snapshot(version, found.cells, [read[2] for read in known], told, waiting)
        return True


def _signature(folder: CellFolder) -> Signature:
    """Name, time and size of everything that a cell is read from."""
    own = (folder.manifest, folder.done, folder.aborted, folder.evaluation)
    sessions = sorted(folder.trajectories.glob("*.json")) if folder.trajectories.is_dir() else []
    found: list[tuple[str, int, int]] = []
    for path in (*own, *sessions):
        try:
            told = path.stat()
        except OSError:
            continue
        found.append((path.name, told.st_mtime_ns, told.st_size))
    return tuple(found)
