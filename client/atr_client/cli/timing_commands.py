"""`atr-client timing`: make sets, check the gates, play the baselines, score, and import."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from atr_client.cli.failures import UsageFault, reported_errors
from atr_client.cli.gateway_group import ALLOW_HOST, HOST, HTTP, TOKEN_ENV
from atr_client.cli.timing_chronicle_command import chronicle_command
from atr_client.cli.timing_sheet_commands import score_sheet_command, sheet_command
from atr_client.timing.baselines import BASELINES, make_baseline
from atr_client.timing.choosers.chooser import User
from atr_client.timing.gates import SALTS, check_sets
from atr_client.timing.table import render_gates, sitting_table
from atr_client.timing.timing_results import conditions, render_condition
from atr_client.timing.timing_set import TimingSet
from atr_data.timing.set_folder import (
    UserFiles,
    load_logs,
    load_set,
    save_index,
    save_logs,
    save_user,
)
from atr_datagen.timing.base import Base, compile_base
from atr_datagen.timing.generate import decide, write_set
from atr_datagen.timing.import_proagentbench import LICENCE_NOTE, convert
from atr_datagen.timing.lexicon import PUBLIC_LEXICON, Lexicon, load_lexicon
from atr_datagen.timing.settings import PUBLIC_SALT, Process, Settings, Split
from atr_datagen.timing.snapshot_set import as_snapshots
from atr_evaluator.timing import TimingRules, UserPlay, score_timing

_FOLDER = click.Path(path_type=Path, file_okay=False)
_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.group()
def timing() -> None:
    """When to help, and with what: streams of work, played event by event."""


timing.add_command(chronicle_command)
timing.add_command(sheet_command)
timing.add_command(score_sheet_command)


@timing.command()
@click.option("--out", type=_FOLDER, required=True, help="Folder to write the set to.")
@click.option("--split", type=click.Choice(["lite", "standard", "snapshot", "private"]), default="lite")
@click.option("--seed", type=int, default=0)
@click.option("--salt-env", metavar="NAME", help="Environment variable that holds the salt of the habits.")
@click.option(
    "--lexicon", type=_FOLDER, default=PUBLIC_LEXICON, help="Folder with the words; private sets need one."
)
@click.option("--users", type=click.IntRange(1, 1000), help="Instead of the split's own number.")
@click.option("--burstiness", type=float, default=0.787, help="Target for gaps between self-help events.")
@click.option("--tolerance", type=float, default=0.02)
@click.option("--days", type=int, default=20)
@click.option("--process", type=click.Choice(["calendar", "regular"]), default="calendar")
def generate(
    out: Path,
    split: Split,
    seed: int,
    salt_env: str | None,
    lexicon: Path,
    users: int | None,
    burstiness: float,
    tolerance: float,
    days: int,
    process: Process,
) -> None:
    """Write a set of streams with their gold."""
    with reported_errors():
        history = max(1, min(16, days - max(1, days // 5)))
        settings = Settings(
            seed=seed,
            split=split,
            salt=_salt(salt_env),
            days=days,
            history_days=history,
            target_b=burstiness,
            tolerance=tolerance,
            process=process,
        )
        for path in write_set(settings, out, lexicon_folder=lexicon, users=users):
            click.echo(path)


def _salt(variable: str | None) -> str:
    if variable is None:
        return PUBLIC_SALT
    if not os.environ.get(variable):
        raise UsageFault(f"the environment variable {variable} for the salt is not set")
    return os.environ[variable]


@timing.command()
@click.option("--users", type=click.IntRange(4, 400), default=40, show_default=True)
@click.option("--salts", type=click.IntRange(1, 100), default=SALTS, show_default=True)
@click.option("--draw", default="gate", show_default=True, help="Another name draws other habits.")
@click.option("--seed", type=int, default=0)
@click.option("--lexicon", type=_FOLDER, default=PUBLIC_LEXICON)
def check(users: int, salts: int, draw: str, seed: int, lexicon: Path) -> None:
    """Measure the gates; exits 1 when one does not hold. In full it takes ten minutes of a free core."""
    with reported_errors():
        settings, words = Settings(seed=seed), load_lexicon(lexicon)
        bases = [compile_base(settings, words, number) for number in range(users)]
        gates, means = check_sets(
            lambda number=number: _drawn(bases, replace(settings, salt=f"{draw}-{number}"), words)
            for number in range(salts)
        )
    click.echo(render_gates(gates, means))
    if not all(gate.holds for gate in gates):
        raise click.exceptions.Exit(1)


def _drawn(bases: Sequence[Base], settings: Settings, lexicon: Lexicon) -> list[User]:
    made = (decide(base, settings, lexicon) for base in bases)
    return [User(one.stream, one.gold) for one in made]


@timing.command()
@click.argument("folder", type=_FOLDER)
@click.option("--player", "players", multiple=True, type=click.Choice(list(BASELINES)), help="Only these.")
@click.option("--logs", type=_FOLDER, help="Folder to write each player's decisions to.")
def baselines(folder: Path, players: tuple[str, ...], logs: Path | None) -> None:
    """Play the players without a model through the server, and print their table."""
    import anyio

    with reported_errors():
        users = [User(files.stream, files.gold) for files in load_set(folder)]
        rows: dict[str, dict[str, Any]] = {}
        for name in players or BASELINES:
            plays = anyio.run(_play_all, name, users)
            rows[name] = score_timing(plays)
            if logs:
                logs.mkdir(parents=True, exist_ok=True)
                save_logs(
                    (log for play in plays for log in play.logs), logs / f"{name.replace('/', '_')}.jsonl"
                )
    click.echo(sitting_table(rows).markdown())


async def _play_all(name: str, users: Sequence[User]) -> list[UserPlay]:
    from atr_client.timing.playing import play_user

    return [await play_user(make_baseline(name, user, users), user) for user in users]


@timing.command()
@click.argument("folder", type=_FOLDER)
@click.option("--logs", type=_FILE, required=True, help="Decisions, one sitting a line.")
@click.option("--cost", type=click.FloatRange(0), default=0.5, show_default=True, help="Of a false alarm.")
def score(folder: Path, logs: Path, cost: float) -> None:
    """Score a file of decisions against a set, and print the result as JSON."""
    with reported_errors():
        result = score_timing(_plays(load_set(folder), logs), TimingRules(false_alarm_cost=cost))
    click.echo(json.dumps(result, indent=2))


@timing.command()
@click.option("--config", default="timing", show_default=True, help="Says which set, and all settings.")
@click.option(
    "--user", "users", multiple=True, required=True, help="Whom to sit beside; several with --http."
)
@click.option("--agent", default="external", show_default=True, help="What tables call the agent.")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Over the configuration's own.")
@click.option("--outputs", type=_FOLDER, help="Folder that is written to.")
@click.option("--fresh", is_flag=True, help="Start over: what is on disk is removed.")
@click.option("--allow-stale-resume", is_flag=True, help="Go on with sittings of a different run.")
@HTTP
@HOST
@click.option("--port", type=click.IntRange(0, 65535), default=8768, show_default=True, help="0: a free one.")
@TOKEN_ENV
@ALLOW_HOST
def play(
    config: str,
    users: tuple[str, ...],
    agent: str,
    changes: tuple[str, ...],
    outputs: Path | None,
    fresh: bool,
    allow_stale_resume: bool,
    http: bool,
    host: str,
    port: int,
    token_env: str | None,
    allow_host: tuple[str, ...],
) -> None:
    """Serve users' sittings to MCP agents, over standard input and output or over HTTP.

    The same command again goes on where it stopped; `table` and `run` show the agent beside all others. Over
    HTTP each user has an address, and so has each sitting where no notes are carried from one to the next.
    """
    from atr_client.cli.served import HttpRequest
    from atr_client.cli.timing_play_command import TimingPlay, timing_play_command

    chosen = TimingPlay(config, users, agent, changes, outputs, fresh, allow_stale_resume)
    timing_play_command(chosen, HttpRequest(host, port, token_env, allow_host) if http else None)


@timing.command()
@click.argument("outputs", type=_FOLDER)
@click.option("--set", "set_folder", type=_FOLDER, help="Folder of the set, where it was moved.")
@click.option("--cost", type=click.FloatRange(0), default=0.5, show_default=True, help="Of a false alarm.")
def table(outputs: Path, set_folder: Path | None, cost: float) -> None:
    """Print the tables of the runs below an outputs folder, scored anew from their decisions."""
    with reported_errors():
        given = TimingSet.load(set_folder) if set_folder else None
        found = conditions(outputs, TimingRules(false_alarm_cost=cost), given=given)
        if not found:
            raise UsageFault(f"{outputs}: no run of the timing track lies here")
    click.echo("\n\n".join(map(render_condition, found)))


def _plays(files: Sequence[UserFiles], path: Path) -> list[UserPlay]:
    logs = load_logs(path)
    return [
        UserPlay(
            one.stream,
            one.gold,
            tuple(log for log in logs if log.user_id == one.stream.header.user_id),
        )
        for one in files
    ]


@timing.command("snapshots")
@click.argument("folder", type=_FOLDER)
@click.option("--out", type=_FOLDER, required=True, help="Folder to write the snapshots to.")
def snapshot_command(folder: Path, out: Path) -> None:
    """Make snapshots of a set, generated or imported: single moments, half of them before help was sought."""
    with reported_errors():
        hashes: dict[str, str] = {}
        for files in load_set(folder):
            stream = as_snapshots(files.stream, files.gold)
            save_user(stream, files.gold, out)
            hashes[stream.header.user_id] = stream.header.sha256
        click.echo(save_index(hashes, out, split="snapshot"))


@timing.command("import-proagentbench")
@click.argument("source", type=_FOLDER)
@click.option("--out", type=_FOLDER, required=True)
@click.option("--tz", "zone", required=True, help="Zone of times without one, as in Europe/Berlin.")
@click.option("--intents", type=_FILE, help="JSON lines with user, event_id and user_intention.")
@click.option("--exclude", type=_FILE, help="Ids of events to leave out.")
@click.option("--lenient", is_flag=True, help="Unknown intent labels become `uncategorized`.")
def import_proagentbench(
    source: Path, out: Path, zone: str, intents: Path | None, exclude: Path | None, lenient: bool
) -> None:
    """Convert a ProAgentBench copy that you hold."""
    with reported_errors():
        written, counts = convert(source, out, zone, intents=intents, exclude=exclude, lenient=lenient)
    click.echo(LICENCE_NOTE, err=True)
    for path in written:
        click.echo(path)
    for reason, number in sorted(counts.items()):
        if number:
            click.echo(f"{number} {reason}", err=True)
