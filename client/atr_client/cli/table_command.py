"""The `table` command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from atr_client.cli.failures import reported_errors
from atr_client.outputs.scored_cells import scored_cells
from atr_client.outputs.user_line import USER_LINE, users_of
from atr_evaluator.aggregate.all_tables import all_tables
from atr_evaluator.aggregate.formats import FORMATS
from atr_evaluator.aggregate.settings import groups, unlike_personas


def table_command(
    folders: Sequence[Path], *, form: str, chosen: Sequence[str], episodes: Path | None
) -> None:
    """Prints the chosen tables; what a reader should know beforehand goes to standard error."""
    with reported_errors():
        found = scored_cells(folders, episodes)
        text = FORMATS[form](all_tables(found.cells, chosen))
        for warning in (*found.warnings, *unlike_personas(groups(found.cells))):
            click.echo(f"warning: {warning}", err=True)
    click.echo(text, nl=False)
    if text and form in USER_LINE:
        click.echo(USER_LINE[form].format(users_of(found.cells)))
