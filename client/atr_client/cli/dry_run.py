"""What `run --dry-run` and `schema` print."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from atr_client.cell.definition import Cell
from atr_client.errors import ConfigError
from atr_client.outputs.layout import CellFolder
from atr_client.sweep.config import RunConfig
from atr_client.sweep.config_file import config_schema
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.registry import remote_specs


def show_plan(config: RunConfig, cells: Sequence[Cell], root: Path, clients: ModelClients) -> None:
    """One line per cell, then sums, and what would keep the run from starting. Nothing is written."""
    for cell in cells:
        click.echo(f"{_state(cell.folder):<8}  {len(cell.sessions):>4} sessions  {cell.key.cell_id}")
    states = Counter(_state(cell.folder) for cell in cells)
    sessions = sum(len(cell.sessions) for cell in cells)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    click.echo(f"{config.name}: {len(cells)} cells ({told}), {sessions:,} sessions, below {root}")
    try:
        clients.check(remote_specs(config))
    except ConfigError as error:
        click.echo(f"not ready: {error}", err=True)


def schema_command() -> None:
    click.echo(json.dumps(config_schema(), indent=2))


def _state(folder: CellFolder) -> str:
    if folder.done.exists():
        return "finished"
    return "begun" if folder.manifest.exists() else "new"
