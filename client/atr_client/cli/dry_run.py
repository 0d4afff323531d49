"""What `run --dry-run` and `schema` print."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from atr_client.cell.definition import Cell
from atr_client.errors import ConfigError, StoreFault
from atr_client.outputs.cell_archive import bring_all
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.stores import Store
from atr_client.sweep.config import RunConfig
from atr_client.sweep.config_file import config_schema
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.registry import remote_specs
from atr_client.timing.timing_config import timing_schema


def show_plan(config: RunConfig, cells: Sequence[Cell], place: Path | Store, clients: ModelClients) -> None:
    """One line per cell, then sums, and what would keep the run from starting. Nothing is written."""
    problems: list[str] = []
    try:
        bring_all([(cell.archive, cell.folder) for cell in cells if cell.archive])
    except (ConfigError, StoreFault) as error:
        problems.append(str(error))
    for cell in cells:
        click.echo(f"{_state(cell.folder):<8}  {len(cell.sessions):>4} sessions  {cell.key.cell_id}")
    states = Counter(_state(cell.folder) for cell in cells)
    sessions = sum(len(cell.sessions) for cell in cells)
    below = place.address if isinstance(place, Store) else place
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    click.echo(f"{config.name}: {len(cells)} cells ({told}), {sessions:,} sessions, below {below}")
    try:
        clients.check(remote_specs(config))
    except ConfigError as error:
        problems.append(str(error))
    for problem in problems:
        click.echo(f"not ready: {problem}", err=True)


def schema_command() -> None:
    click.echo(json.dumps(both_schemas(config_schema(), timing_schema()), indent=2))


def both_schemas(episodes: Mapping[str, Any], timing: Mapping[str, Any]) -> dict[str, Any]:
    """One JSON Schema for the configurations of both tracks: which one holds is told by `track`."""
    head = {key: episodes[key] for key in ("$schema", "title")}
    kinds = {"EpisodesRun": episodes, "TimingRun": timing}
    parts = {name: _without(one, "$schema", "title", "$defs") for name, one in kinds.items()}
    of_timing = {"properties": {"track": {"const": "timing"}}, "required": ["track"]}
    return {
        **head,
        "if": of_timing,
        "then": {"$ref": "#/$defs/TimingRun"},
        "else": {"$ref": "#/$defs/EpisodesRun"},
        "$defs": {**timing.get("$defs", {}), **episodes.get("$defs", {}), **parts},
    }


def _without(schema: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in keys}


def _state(folder: CellFolder) -> str:
    if folder.done.exists():
        return "finished"
    return "begun" if folder.manifest.exists() else "new"
