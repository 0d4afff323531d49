"""`atr-client`: run, score and read the benchmark.

What a command needs is imported when it is called, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from atr_client.cli.completion import configs, personas
from atr_client.cli.completion import variants as variant_names
from atr_client.cli.datagen_group import datagen
from atr_client.cli.gateway_group import play, serve_episodes
from atr_client.cli.lazy_group import LazyGroup
from atr_client.cli.results_group import RESULT_COMMANDS
from atr_client.cli.sweep_commands import doctor, estimate, fetch, models, run, schema, status

_FILE = click.Path(path_type=Path)
_EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs a command and exits: 0 fine, 1 something failed, 2 a mistake in usage or configuration, 3
    incomplete, 130 interrupted."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if any("\0" in argument for argument in arguments):
            raise click.UsageError("no argument can hold a NUL")
        code = cli.main(arguments, prog_name="atr-client", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = 2
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        code = error.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        code = 130
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="atrbench", prog_name="atr-client")
def cli() -> None:
    """Ask now, use later: runs agents through the benchmark and scores what they did."""


@cli.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=_FILE)
@click.option("--from", "source", type=click.Choice(["trajectories", "calls"]), default="trajectories")
@click.option(
    "--episode",
    metavar="EPISODE",
    shell_complete=personas,
    help="A path, persona or episode id; else the episode that the cell was run with.",
)
@click.option("--episodes", type=_FILE, help="Folder in which the episodes of the cells are looked for.")
@click.option("--variant", shell_complete=variant_names, help="The variant, where a cell has no manifest.")
@click.option("--strict/--no-strict", default=True, help="Whether missing sessions give exit code 3.")
@click.option("--no-cross-check", is_flag=True, help="Do not compare trajectories and call log.")
@click.option("--no-trace-footers", is_flag=True, help="Leave the gold check out of the traces.")
def score(
    folders: tuple[Path, ...],
    source: Literal["trajectories", "calls"],
    episode: str | None,
    episodes: Path | None,
    variant: str | None,
    strict: bool,
    no_cross_check: bool,
    no_trace_footers: bool,
) -> int:
    """Score cells again from their files; DIR is a cell or any folder above some.

    Exit code 3: sessions are missing, or trajectories and call log of a cell differ.
    """
    from atr_client.cli.score_command import ScoreRequest, score_command

    return score_command(
        ScoreRequest(
            folders,
            source,
            episode,
            variant,
            strict,
            trace_footers=not no_trace_footers,
            episodes=episodes,
            cross_check=not no_cross_check,
        )
    )


@cli.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=_FILE)
@click.option("--episode", type=_FILE, help="The episode's file; else the one that the cell was run with.")
@click.option("--episodes", type=_FILE, help="Folder in which the episodes of the cells are looked for.")
def verify(folders: tuple[Path, ...], episode: Path | None, episodes: Path | None) -> int:
    """Check finished cells against themselves; nothing is written. DIR is a cell or any folder above some.

    Scores each cell anew, compares trajectories and call log, and replays every logged call through a fresh
    environment. Exit code 3: something differs.
    """
    from atr_client.cli.verify_command import verify_command

    return verify_command(folders, episode, episodes)


@cli.command()
@click.argument("trajectory", type=_FILE)
@click.option("--original", is_flag=True, help="Print the file for the original benchmark's reader.")
def show(trajectory: Path, original: bool) -> None:
    """Print a trajectory so that a person can read it."""
    from atr_client.cli.show_command import show_command

    show_command(trajectory, original=original)


@cli.command()
@click.argument("episodes", metavar="EPISODE...", nargs=-1, required=True, shell_complete=personas)
@click.option("--episodes", "folder", type=_FILE, help="Folder in which episodes are looked for.")
def validate(episodes: tuple[str, ...], folder: Path | None) -> int:
    """Check episode files; EPISODE is a path or a selector."""
    from atr_client.cli.validate_command import validate_command

    return validate_command(episodes, folder)


@cli.command()
def variants() -> None:
    """List the five variants."""
    from atr_client.cli.variants_command import variants_command

    variants_command()


@cli.command()
@click.argument("domain", required=False)
def tools(domain: str | None) -> None:
    """List the tools, of one DOMAIN or of all."""
    from atr_client.cli.tools_command import tools_command

    tools_command(domain)


@cli.command()
@click.argument("role", type=click.Choice(["router", "classifier", "lines"]))
@click.argument("file", required=False, type=_EXISTING_FILE)
@click.option(
    "--classifier",
    type=click.Choice(["lexical", "minilm"]),
    help="How texts are compared: minilm by default where it is installed, else lexical.",
)
@click.option("--lines", type=_EXISTING_FILE, help="What the user knows of the rules of FILE.")
@click.option("--every", type=click.IntRange(min=1), default=1, help="Only every Nth of our own lines.")
@click.option("--model", help="A model in the part of the role, in place of the offline one.")
@click.option(
    "--config", shell_complete=configs, help="A configuration whose registry and limits hold for the model."
)
def calibrate(
    role: Literal["router", "classifier", "lines"],
    file: Path | None,
    classifier: Literal["lexical", "minilm"] | None,
    lines: Path | None,
    every: int,
    model: str | None,
    config: str | None,
) -> None:
    """Measure a role of the simulated user on labelled turns: those in FILE, or our own.

    Our own are judged by weights that were trained without their personas and writers. With `lines`, FILE is
    an episode: the question lines of one hand are judged by a user who has those of the other.
    """
    if model:
        if role == "lines":
            raise click.UsageError("a model has no use for question lines")
        from atr_client.cli.calibrate_command import calibrate_model_command

        calibrate_model_command(role, file, model, config)
    else:
        from atr_client.cli.calibrate_command import calibrate_command

        calibrate_command(role, file, classifier, lines, every)


for command in (run, fetch, status, models, estimate, doctor, schema):
    cli.add_command(command)
cli.add_command(datagen)
cli.add_command(
    LazyGroup("memory", "atr_client.cli.memory_commands:memory", "What the memory of a finished cell holds.")
)
cli.add_command(
    LazyGroup(
        "timing",
        "atr_client.cli.timing_commands:timing",
        "When to help, and with what: streams of work, played event by event.",
    )
)
for command in RESULT_COMMANDS:
    cli.add_command(command)
cli.add_command(play)
cli.add_command(serve_episodes)
