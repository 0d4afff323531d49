"""The `export` command."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import click

from atr_client.cli.failures import reported_errors
from atr_client.errors import ConfigError
from atr_client.outputs.inspect_logs import write_inspect_log
from atr_client.outputs.scored_cells import ScoredFolder, scored_cells
from atr_client.outputs.tidy_files import write_csv, write_parquet
from atr_client.outputs.tidy_rows import CALL_COLUMNS, SESSION_COLUMNS, call_rows, session_rows
from atr_evaluator.aggregate.settings import groups

ExportFormat = Literal["csv", "parquet", "inspect"]


def export_command(
    folders: Sequence[Path],
    out: Path,
    *,
    form: ExportFormat,
    columns: Sequence[str],
    episodes: Path | None,
) -> None:
    """Writes the files into `out`, which is made where it is missing."""
    with reported_errors():
        sessions, calls = _chosen(columns)
        if columns and form == "inspect":
            raise ConfigError("--columns is for csv and parquet; a log of Inspect has no columns")
        found = scored_cells(folders, episodes)
        for warning in found.warnings:
            click.echo(f"warning: {warning}", err=True)
        out.mkdir(parents=True, exist_ok=True)
        if form == "inspect":
            for group in groups(found.cells):
                click.echo(write_inspect_log(group, out))
            return
        _tables(found, out, form, sessions, calls, episodes)


def _tables(
    found: ScoredFolder,
    out: Path,
    form: Literal["csv", "parquet"],
    sessions: Mapping[str, type],
    calls: Mapping[str, type],
    episodes: Path | None,
) -> None:
    write = write_csv if form == "csv" else write_parquet
    for name, columns, rows_of in (
        ("sessions", sessions, session_rows),
        ("calls", calls, call_rows),
    ):
        if columns:
            path = out / f"{name}.{form}"
            count = write(path, columns, (row for cell in found.cells for row in rows_of(cell, episodes)))
            click.echo(f"{path}: {count} rows")


def _chosen(columns: Sequence[str]) -> tuple[Mapping[str, type], Mapping[str, type]]:
    """The columns of either table; all of them where none is named. Raises ConfigError for an unknown one."""
    if not columns:
        return SESSION_COLUMNS, CALL_COLUMNS
    known = {**SESSION_COLUMNS, **CALL_COLUMNS}
    for name in columns:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3) or list(known)
            raise ConfigError(f"there is no column {name!r}; there is {', '.join(near)}")
    return (
        {name: SESSION_COLUMNS[name] for name in columns if name in SESSION_COLUMNS},
        {name: CALL_COLUMNS[name] for name in columns if name in CALL_COLUMNS},
    )
