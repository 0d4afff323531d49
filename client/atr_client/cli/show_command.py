"""The `show` command."""

from __future__ import annotations

from pathlib import Path

import click

from atr_client.cli.failures import reported_errors
from atr_client.outputs.export import for_original
from atr_client.outputs.transcript_text import transcript_text
from atr_data import load_trajectory


def show_command(path: Path, *, original: bool = False) -> None:
    """`original` prints the file as the original benchmark reads it."""
    with reported_errors():
        trajectory = load_trajectory(path)
        click.echo(for_original(trajectory) + "\n" if original else transcript_text(trajectory), nl=False)
