"""The commands that read a run configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atr_client.cli.completion import configs, personas
from atr_client.cli.completion import variants as variant_names

if TYPE_CHECKING:
    from atr_client.outputs.stores import Store

_FILE = click.Path(path_type=Path)


class _OutputsPlace(click.Path):
    """A folder, or the address of a store."""

    name = "path or address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        from atr_client.errors import ConfigError
        from atr_client.outputs.stores import place_of

        try:
            return place_of(value)
        except ConfigError as error:
            self.fail(str(error), param, ctx)


_PLACE = _OutputsPlace()
_config_option = click.option(
    "--config",
    "config",
    required=True,
    shell_complete=configs,
    help="A YAML file, or the name of one that ships with us.",
)
_changes_option = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Another value for a key of the configuration, such as limits.cells=4.",
)


@click.command()
@_config_option
@click.option("--episodes", type=_FILE, help="Folder in which episodes are looked for.")
@click.option(
    "--select",
    multiple=True,
    shell_complete=personas,
    help="Episodes: all, a persona, a glob, split:NAME or a path.",
)
@click.option(
    "--variant", "variants", multiple=True, shell_complete=variant_names, help="Only these variants."
)
@click.option("--model", "models", multiple=True, help="Only these models.")
@_changes_option
@click.option("--outputs", type=_PLACE, help="Folder that the run writes to, or the address of a store.")
@click.option("--fresh", is_flag=True, help="Start every cell over: what it has on disk is removed.")
@click.option("--compatible", is_flag=True, help="Reuse whatever the original benchmark would reuse.")
@click.option("--allow-stale-resume", is_flag=True, help="Go on with sessions of a different run.")
@click.option("--no-trace-footers", is_flag=True, help="Leave the gold check out of the traces.")
@click.option("--no-progress", is_flag=True, help="Plain lines in place of live bars.")
@click.option("--dry-run", is_flag=True, help="Print the plan and write nothing.")
@click.option("--nulls", is_flag=True, help="Run the rule-blind models too, for the validity line.")
@click.option("--record", type=_FILE, help="Folder to record the run's model calls in.")
@click.option("--replay", type=_FILE, help="Folder of recorded calls that answer in place of the models.")
def run(
    config: str,
    episodes: Path | None,
    select: tuple[str, ...],
    variants: tuple[str, ...],
    models: tuple[str, ...],
    changes: tuple[str, ...],
    outputs: Path | Store | None,
    fresh: bool,
    compatible: bool,
    allow_stale_resume: bool,
    no_trace_footers: bool,
    no_progress: bool,
    dry_run: bool,
    nulls: bool,
    record: Path | None,
    replay: Path | None,
) -> int:
    """Run a sweep; the same command again goes on where it stopped.

    A run that was interrupted keeps its finished sessions. One folder takes one writer at a time.
    """
    from atr_client.cli.run_command import RunRequest, run_command
    from atr_client.sweep.plan import Overrides

    return run_command(
        RunRequest(
            config=config,
            select=select,
            variants=variants,
            models=models,
            changes=changes,
            nulls=nulls,
            dry=dry_run,
            live=not no_progress,
            record=record,
            replay=replay,
            overrides=Overrides(
                episodes=episodes,
                outputs=outputs,
                fresh=fresh,
                compatible=compatible,
                allow_stale_resume=allow_stale_resume,
                trace_footers=not no_trace_footers,
            ),
        )
    )


@click.command()
@click.option("--config", shell_complete=configs, help="A configuration whose registry counts too.")
def models(config: str | None) -> None:
    """List the models that can be run, and whether their keys are set."""
    from atr_client.cli.models_command import models_command

    models_command(config)


@click.command()
@_config_option
@click.option("--episodes", type=_FILE, help="Folder in which episodes are looked for.")
@click.option("--outputs", type=_FILE, help="Folder in which earlier runs are looked for.")
@_changes_option
def estimate(config: str, episodes: Path | None, outputs: Path | None, changes: tuple[str, ...]) -> None:
    """Tell the calls, tokens and cost to be expected of a sweep. Nothing is called."""
    from atr_client.cli.estimate_command import estimate_command

    estimate_command(config, episodes, outputs, changes)


@click.command()
@_config_option
@_changes_option
def doctor(config: str, changes: tuple[str, ...]) -> int:
    """Check keys, SDKs and endpoints of a sweep, with one small call to each, its cluster and its store."""
    from atr_client.cli.doctor_command import doctor_command

    return doctor_command(config, changes)


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=_FILE)
@click.option("--episodes", type=_FILE, help="Folder in which the episodes of the cells are looked for.")
def status(folders: tuple[Path, ...], episodes: Path | None) -> int:
    """Tell how far a sweep is, from its files; it may be running. DIR is a cell or any folder above some.

    Exit code 3: some cells are not done.
    """
    from atr_client.cli.status_command import status_command

    return status_command(folders, episodes)


@click.command()
@click.argument("address")
@click.argument("folder", metavar="DIR", type=_FILE)
def fetch(address: str, folder: Path) -> int:
    """Bring the cells of a run from a store, such as s3://bucket/sweep, into DIR, for all other commands.

    The same command again brings what is new. Exit code 3: some cells are not finished.
    """
    from atr_client.cli.fetch_command import fetch_command

    return fetch_command(address, folder)


@click.command()
def schema() -> None:
    """Print the JSON Schema of a run configuration, for an editor or a checker."""
    from atr_client.cli.dry_run import schema_command

    schema_command()
