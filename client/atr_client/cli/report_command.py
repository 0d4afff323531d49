"""The `report` command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from atr_client.cli.failures import reported_errors
from atr_client.errors import ConfigError
from atr_client.outputs.report_sessions import packed_cell
from atr_client.outputs.scored_cells import ScoredFolder, scored_cells
from atr_client.timing.report_section import report_section
from atr_data.files import write_atomic
from atr_evaluator.report.page import Overview, fragment, overview, page

_MEGABYTE = 1_000_000


def report_command(folders: Sequence[Path], out: Path, *, episodes: Path | None, limit: float) -> None:
    """Writes the page, whole or not at all. Transcripts of more than `limit` megabytes stay out of it."""
    with reported_errors():
        timing = report_section(folders)
        found = _scored(folders, episodes, alone=not timing)
        problems: list[str] = []
        sessions = [packed_cell(n, cell, episodes, problems) for n, cell in enumerate(found.cells)]
        size = sum(len(one.documents) for one in sessions) * 4 / 3 / _MEGABYTE
        told = overview(found.cells, [*found.warnings, *problems]) if found.cells else Overview((), (), ())
        body = (fragment(told) if found.cells else "") + timing
        text = page(report_title(folders), told, sessions, embedded=size <= limit, body=body)
        write_atomic(out, text)
    for warning in told.warnings:
        click.echo(f"warning: {warning}", err=True)
    if size > limit:
        click.echo(
            f"warning: the transcripts take {size:.0f} MB, more than --max-mb {limit:g}: they are left out; "
            f"read them with: atr-client view {' '.join(map(str, folders))}",
            err=True,
        )
    count = sum(len(one.rows) for one in sessions)
    click.echo(f"{out}: {len(found.cells)} cells, {count} sessions, {len(text.encode()) / _MEGABYTE:.1f} MB")


def _scored(folders: Sequence[Path], episodes: Path | None, *, alone: bool) -> ScoredFolder:
    """The episodes' cells; there may be none where they are not `alone`."""
    try:
        return scored_cells(folders, episodes)
    except ConfigError:
        if alone:
            raise
        return ScoredFolder((), ())


def report_title(folders: Sequence[Path]) -> str:
    return f"ATR report: {', '.join(folder.resolve().name for folder in folders)}"
