"""The `score` command."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from atr_client.cli.failures import reported_errors
from atr_client.outputs.fitting import print_line
from atr_client.outputs.in_processes import in_processes, searching_rarely
from atr_client.outputs.layout import CellFolder, summary_path, utc_stamp
from atr_client.outputs.result_tables import print_results
from atr_client.outputs.rows import aborted_row
from atr_client.outputs.scored_cells import scored_cell
from atr_client.outputs.scoring import Source, score_folder
from atr_client.outputs.stored_cells import EpisodeShelf, Told, all_cells, episode_of, outputs_root_of
from atr_data import DataError, named_episode
from atr_data.files import write_atomic
from atr_data.json_text import indented_json
from atr_evaluator import CellIdentity, CellScore, exit_code, score_row, summary
from atr_evaluator.aggregate.settings import ScoredCell
from atr_ontology import load_ontology


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """What the command line asked for. `episode` is a file, `episodes` a folder to look in; `variant` serves
    cells that do not tell theirs."""

    folders: Sequence[Path]
    source: Source
    episode: str | None
    variant: str | None
    strict: bool
    trace_footers: bool
    episodes: Path | None = None
    cross_check: bool = True


def score_command(request: ScoreRequest) -> int:
    """Scores every cell at or below the folders and prints the results. Returns the exit code."""
    with reported_errors(), searching_rarely():
        cells = all_cells(request.folders)
        named = named_episode(request.episode, request.episodes) if request.episode else None
        load_ontology()  # once, and not in each process
        scored = in_processes(partial(_score, request=request, named=named, shelf=EpisodeShelf()), cells)
        rows = [row for row, _ in scored]
        root = outputs_root_of(cells[0])
        print_results(Console(), rows, root, [cell for _, cell in scored if cell])
        if root:
            path = summary_path(root, "evaluator", stamp := utc_stamp())
            path.parent.mkdir(exist_ok=True)
            arguments = {"folders": [str(f) for f in request.folders], "source": request.source}
            document = summary(rows, timestamp=stamp, mode="score", args=arguments)
            write_atomic(path, indented_json(document))
            print_line(Console(), f"summary: {path}", indent="    ")
        for row in rows:
            if row["incomplete"]:
                missing = row["missing_learning_sessions"] + row["missing_test_sessions"]
                print_line(Console(), f"incomplete: {row['cell_id']}: {', '.join(missing)}", indent="    ")
        return exit_code(rows, strict=request.strict)


def _score(
    folder: CellFolder, *, request: ScoreRequest, named: Path | None, shelf: EpisodeShelf
) -> tuple[dict[str, Any], ScoredCell | None]:
    """The row of a cell, and the cell with its score where it has one."""
    started = time.monotonic()
    told = Told.of(folder)
    record = told.record
    episode_path: Path | None = None
    broken_off = aborted_row(folder)
    try:
        if broken_off:
            raise DataError(str(broken_off["error"]))
        found = episode_of(folder, record, given=named, below=request.episodes, shelf=shelf)
        episode_path = found.path
        if found.changed:
            click.echo(f"warning: {found.path} has changed since {folder.path} was run", err=True)
        outcome: CellScore | str = score_folder(
            folder,
            found.episode,
            variant=request.variant,
            source=request.source,
            trace_footers=request.trace_footers,
            cross_check=request.cross_check,
            told=told,
        )
    except DataError as error:
        outcome = str(error)
    identity = CellIdentity(
        cell_id=record.key.cell_id if record.key else folder.path.name,
        episode_path=str(episode_path or record.episode_path),
        variant=record.variant or request.variant,
        model=record.model,
        memory_layer=record.memory_layer,
        seed=record.seed,
        runs_dir=str(folder.path),
    )
    row = score_row(identity, outcome, duration_sec=time.monotonic() - started)
    row = {**row, "privileged": bool(record.privileged), **(broken_off or {})}
    if isinstance(outcome, str):
        return row, None
    return row, scored_cell(folder, outcome.document, told=told)
