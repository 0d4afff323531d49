"""The `compare` command."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from atr_client.cli.failures import reported_errors
from atr_client.errors import ConfigError
from atr_client.outputs.scored_cells import scored_cells
from atr_client.outputs.table_printing import print_tables
from atr_client.outputs.user_line import USER_LINE, users_of
from atr_evaluator.aggregate.all_tables import is_empty
from atr_evaluator.aggregate.formats import FORMATS
from atr_evaluator.aggregate.run_comparison import run_comparison


def compare_command(first: Path, second: Path, *, form: str | None, episodes: Path | None) -> None:
    """Prints what changed, for people where no format is named."""
    with reported_errors():
        runs = [scored_cells([folder], episodes) for folder in (first, second)]
        for name, run in zip("AB", runs, strict=True):
            for warning in run.warnings:
                click.echo(f"warning: {name}: {warning}", err=True)
        try:
            found = run_comparison(runs[0].cells, runs[1].cells)
        except ValueError as error:
            raise ConfigError(f"{first} and {second}: {error}") from error
        tables = [table for table in found if not is_empty(table)]
    if form:
        click.echo(FORMATS[form](tables), nl=False)
    else:
        print_tables(Console(), tables)
    if form is None or form in USER_LINE:
        for name, run in zip("AB", runs, strict=True):
            click.echo(USER_LINE[form or "md"].format(f"{name}, {users_of(run.cells)}"))
