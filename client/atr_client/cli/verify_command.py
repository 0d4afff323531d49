"""The `verify` command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import click

from atr_client.cell.verification import Verification, verify_cell
from atr_client.cli.failures import reported_errors
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.stored_cells import CellRecord, all_cells, episode_of
from atr_data import DataError
from atr_evaluator import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_OK

_WORDS = {True: "true", False: "false", None: "null"}


def verify_command(folders: Sequence[Path], episode: Path | None, episodes: Path | None) -> int:
    """Prints a line per cell, and one for whatever does not hold. Returns the exit code."""
    codes: set[int] = set()
    with reported_errors():
        for folder in all_cells(folders):
            codes.add(_verify(folder, episode, episodes))
    return EXIT_FAILED if EXIT_FAILED in codes else max(codes, default=EXIT_OK)


def _verify(folder: CellFolder, episode: Path | None, episodes: Path | None) -> int:
    record = CellRecord.of(folder)
    try:
        found = episode_of(folder, record, given=episode, below=episodes)
        if found.changed:
            raise DataError("has changed since the cell was run", path=found.path)
        verified = anyio.run(verify_cell, folder, found.episode, record)
    except DataError as error:
        click.echo(f"failed: {folder.path}: {error}")
        return EXIT_FAILED
    _print(folder, verified)
    return EXIT_OK if verified.holds else EXIT_INCOMPLETE


def _print(folder: CellFolder, verified: Verification) -> None:
    answers = {
        "rescored": verified.rescored,
        "consistent": verified.consistent,
        "replayed": verified.replayed,
    }
    said = " ".join(f"{name}={_WORDS[answer.holds]}" for name, answer in answers.items())
    click.echo(f"{folder.path}: {said}")
    for name, answer in answers.items():
        for told in answer.told:
            click.echo(f"  {name}: {told}")
