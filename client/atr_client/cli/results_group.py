"""The commands that read what runs have left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

FORMAT_NAMES = ("md", "csv", "latex", "json")
TABLE_NAMES = (
    "accuracy",
    "published",
    "losses",
    "gap",
    "asking",
    "companions",
    "endings",
    "memory",
    "trials",
    "comparisons",
    "unfinished",
)
"""Those of `atr_evaluator.aggregate`, which `--help` need not load."""

_FILE = click.Path(path_type=Path)
_folders = click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=_FILE)
_episodes = click.option(
    "--episodes", type=_FILE, help="Folder in which the episodes of the cells are looked for."
)


@click.command()
@_folders
@click.option("--format", "form", type=click.Choice(FORMAT_NAMES), default="md", show_default=True)
@click.option("--only", multiple=True, type=click.Choice(TABLE_NAMES), help="Only these tables.")
@_episodes
def table(folders: tuple[Path, ...], form: str, only: tuple[str, ...], episodes: Path | None) -> None:
    """Print the tables of a run with intervals; DIR is a cell or any folder above some."""
    from atr_client.cli.table_command import table_command

    table_command(folders, form=form, chosen=only or TABLE_NAMES, episodes=episodes)


@click.command()
@_folders
@click.option("-o", "--out", type=_FILE, default="report.html", show_default=True, help="The page to write.")
@click.option(
    "--max-mb",
    type=click.FloatRange(min=0),
    default=60,
    show_default=True,
    help="Largest size of the transcripts in the page; larger ones are for `view`.",
)
@_episodes
def report(folders: tuple[Path, ...], out: Path, max_mb: float, episodes: Path | None) -> None:
    """Write one page with charts, tables and a reader for every session. It needs no network."""
    from atr_client.cli.report_command import report_command

    report_command(folders, out, episodes=episodes, limit=max_mb)


@click.command()
@_folders
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="By default any free one.")
@_episodes
def view(folders: tuple[Path, ...], port: int, episodes: Path | None) -> None:
    """Serve the report of a run on this machine; the page follows the run while it goes on."""
    from atr_client.cli.view_command import view_command

    view_command(folders, episodes=episodes, port=port)


@click.command()
@_folders
@click.option(
    "--format", "form", type=click.Choice(["csv", "parquet", "inspect"]), default="csv", show_default=True
)
@click.option("-o", "--out", type=_FILE, default="export", show_default=True, help="Folder to write to.")
@click.option("--columns", help="Only these columns, with commas between.")
@_episodes
def export(
    folders: tuple[Path, ...],
    form: Literal["csv", "parquet", "inspect"],
    out: Path,
    columns: str | None,
    episodes: Path | None,
) -> None:
    """Write every session and every call as a row, or logs that `inspect view` opens."""
    from atr_client.cli.export_command import export_command

    named = [name.strip() for name in columns.split(",")] if columns else []
    export_command(folders, out, form=form, columns=named, episodes=episodes)


@click.command()
@click.argument("first", metavar="A", type=_FILE)
@click.argument("second", metavar="B", type=_FILE)
@click.option("--format", "form", type=click.Choice(FORMAT_NAMES), help="By default, tables for people.")
@_episodes
def compare(first: Path, second: Path, form: str | None, episodes: Path | None) -> None:
    """Tell what changed from run A to run B, on the tests that both played, with significance."""
    from atr_client.cli.compare_command import compare_command

    compare_command(first, second, form=form, episodes=episodes)


RESULT_COMMANDS = (table, compare, report, view, export)
