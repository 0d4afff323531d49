"""The `doctor` command."""

from __future__ import annotations

import os
from collections.abc import Sequence

import anyio
import click
from rich.console import Console

from atr_client.cli.failures import reported_errors
from atr_client.outputs.fitting import print_line
from atr_client.sweep.config_file import load_config
from atr_client.sweep.doctor import examine
from atr_client.sweep.memory_doctor import examine_memories
from atr_client.sweep.place_doctor import examine_places
from atr_client.sweep.registry import remote_specs


def doctor_command(config_name: str, changes: Sequence[str] = ()) -> int:
    """Returns 1 when a model, a memory, the cluster or the store of the configuration is not ready."""
    with reported_errors():
        config = load_config(config_name, changes)
        specs = remote_specs(config)
        found = anyio.run(examine, specs, os.environ, config.limits.call_timeout)
        memories = anyio.run(examine_memories, config.memory)
        places = list(examine_places(config))
    if not specs and not memories:
        click.echo("every model of this configuration is offline: nothing to check")
    everything = (*found, *memories, *places)
    for diagnosis in everything:
        print_line(Console(), diagnosis.render(), indent="    ")
    return 1 if any(diagnosis.problem for diagnosis in everything) else 0
