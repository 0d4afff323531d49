"""The `doctor` command."""

from __future__ import annotations

import os
from collections.abc import Sequence

import anyio
import click
from rich.console import Console

from atr_client.cli.failures import reported_errors
from atr_client.outputs.fitting import print_line
from atr_client.sweep.config_file import load_config, track_of
from atr_client.sweep.doctor import examine
from atr_client.sweep.endpoints import RemoteSpec
from atr_client.sweep.memory_doctor import examine_memories
from atr_client.sweep.place_doctor import examine_places
from atr_client.sweep.registry import remote_specs


def doctor_command(config_name: str, changes: Sequence[str] = ()) -> int:
    """Returns 1 when a model, a memory, the cluster or the store of the configuration is not ready."""
    with reported_errors():
        if track_of(config_name) == "timing":
            specs, patience, memories, places = *_of_timing(config_name, changes), [], []
        else:
            config = load_config(config_name, changes)
            specs, patience = remote_specs(config), config.limits.call_timeout
            memories, places = anyio.run(examine_memories, config.memory), list(examine_places(config))
        found = anyio.run(examine, specs, os.environ, patience)
    if not specs and not memories:
        click.echo("every model of this configuration is offline: nothing to check")
    everything = (*found, *memories, *places)
    for diagnosis in everything:
        print_line(Console(), diagnosis.render(), indent="    ")
    return 1 if any(diagnosis.problem for diagnosis in everything) else 0


def _of_timing(name: str, changes: Sequence[str]) -> tuple[list[RemoteSpec], float]:
    """The models of a run of the timing track, and how long a call may take. Its memory is our own server."""
    from atr_client.timing.timing_config import load_timing_config
    from atr_client.timing.timing_players import ModelPlayer, chosen_players

    config = load_timing_config(name, changes)
    players = chosen_players(config)
    return [p.entry.spec for p in players if isinstance(p, ModelPlayer)], config.limits.call_timeout
