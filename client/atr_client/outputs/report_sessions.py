"""The sessions of a cell as a report takes them, read from its folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from atr_client.outputs.layout import CellFolder
from atr_client.outputs.stored_cells import CellRecord, episode_of
from atr_data import DataError, load_trajectory
from atr_data.trajectory import Trajectory
from atr_evaluator.aggregate.settings import ScoredCell
from atr_evaluator.report.page import PackedCell, packed
from atr_evaluator.report.session_view import index_row, session_document


def packed_cell(number: int, cell: ScoredCell, episodes: Path | None, problems: list[str]) -> PackedCell:
    """Learning sessions first, then tests, each in the order of their names. A session that cannot be read is
    left out; what is wrong goes to `problems`, a line each."""
    folder = CellFolder(Path(cell.folder))
    try:
        found = episode_of(folder, CellRecord.of(folder), below=episodes)
    except DataError as error:
        problems.append(f"{cell.cell_id}: its sessions are left out: {error}")
        return packed([], {})
    if found.changed:
        problems.append(f"{cell.cell_id}: {found.path} has changed since the cell was run")
    results = {result["session_id"]: result for result in cell.results if not result.get("missing")}
    losses = {loss["session_id"]: loss for loss in cell.losses}
    rows: list[list[Any]] = []
    documents: dict[str, Any] = {}
    runs = sorted(_trajectories(folder, problems), key=lambda run: (run.session_type, run.session_id))
    for run in runs:
        told = results.get(run.session_id), losses.get(run.session_id)
        rows.append(index_row(number, run, found.episode, *told))
        documents[run.session_id] = session_document(run, found.episode, *told)
    return packed(rows, documents)


def _trajectories(folder: CellFolder, problems: list[str]) -> Iterator[Trajectory]:
    for path in sorted(folder.trajectories.glob("*.json")):
        try:
            yield load_trajectory(path)
        except DataError as error:
            problems.append(str(error))
