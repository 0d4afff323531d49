"""`atr-client run` on a configuration of the timing track."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import anyio
import click
from pydantic import ValidationError
from rich.console import Console

from atr_client.cli.failures import UsageFault
from atr_client.cli.run_command import EXIT_INTERRUPTED, RunRequest
from atr_client.errors import CellBusy, ConfigError
from atr_client.logs import terminal_log
from atr_client.models.recording import chosen_exchanges
from atr_client.outputs.cell_lock import is_busy
from atr_client.outputs.code_hash import code_hash
from atr_client.outputs.layout import summary_path, utc_stamp
from atr_client.outputs.spending import spent
from atr_client.sweep.config_file import first_problem
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.folders import check_writable, outputs_root
from atr_client.sweep.stop_signals import until_told
from atr_client.timing.timing_cell import TimingCell
from atr_client.timing.timing_config import SetConfig, TimingConfig, load_timing_config
from atr_client.timing.timing_files import TOP
from atr_client.timing.timing_plan import plan_timing
from atr_client.timing.timing_players import ModelPlayer, chosen_players, missing_baselines
from atr_client.timing.timing_results import conditions, render_condition
from atr_client.timing.timing_set import TimingSet
from atr_client.timing.timing_sweep import TimingReport, run_timing
from atr_data.files import write_atomic
from atr_data.timing.priors import count_priors
from atr_data.timing.set_folder import INDEX, UserFiles
from atr_datagen.timing.base import user_name
from atr_datagen.timing.generate import generate, write_set
from atr_datagen.timing.lexicon import PUBLIC_LEXICON, lexicon_files
from atr_datagen.timing.settings import PUBLIC_SALT, USERS, Settings

SETS = "_sets"
GENERATOR_CODE = {"atr_datagen": ("timing",), "atr_data": ("timing",)}


def timing_run_command(request: RunRequest) -> int:
    """Runs what is missing and prints the tables. Returns the exit code. Expects to be called where expected
    errors are reported."""
    config = _narrowed(load_timing_config(request.config, request.changes), request)
    root = outputs_root(config, request.overrides.outputs)
    players = chosen_players(config)
    clients = ModelClients(config.limits, exchanges=chosen_exchanges(request.record, request.replay))
    if request.replay is None:
        clients.check([player.entry.spec for player in players if isinstance(player, ModelPlayer)])
    folder = config.set.folder or generated_set(config.set, root, dry=request.dry)
    if folder is None:
        return 0
    if not request.dry:
        check_writable(root)
    chosen = TimingSet.load(folder)
    fresh, stale = request.overrides.fresh, request.overrides.allow_stale_resume
    cells = plan_timing(config, chosen, root, clients, fresh=fresh, allow_stale_resume=stale)
    if request.dry:
        click.echo("\n".join(cell.key.cell_id for cell in cells))
        return 0
    for cell in cells:
        if is_busy(cell.folder, patience=0):
            raise CellBusy(f"another process is writing to {cell.folder.path}")
    clients.meter.limit = config.limits.cost_usd
    if clients.meter.limit is not None and not fresh and request.replay is None:
        clients.meter.add(spent(cell.folder for cell in cells))
    report = TimingReport([cell.key.cell_id for cell in cells])
    console = Console(stderr=True)

    def show(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    interrupted = False
    try:
        with terminal_log(show):
            anyio.run(_run, cells, config.limits.cells, report, clients, show)
    except KeyboardInterrupt:
        interrupted = True
    _print_results(config, root, report, chosen)
    click.echo(f"summary: {_write_summary(config, root, report)}")
    if report.stopped:
        click.echo(report.stopped, err=True)
    if interrupted:
        click.echo("interrupted; run the same command to resume", err=True)
        return EXIT_INTERRUPTED
    return report.exit_code


def generated_set(chosen: SetConfig, root: Path, *, dry: bool = False) -> Path | None:
    """The folder of a generated set, written unless it is there: its name tells settings and generator. In a
    dry run None where it would be written."""
    lexicon, settings = chosen.lexicon or PUBLIC_LEXICON, _settings(chosen)
    words = [path.read_bytes().hex() for path in lexicon_files(lexicon)]
    made_of = json.dumps([asdict(settings), words, code_hash(GENERATOR_CODE)], default=str)
    name = f"{chosen.split}-seed{chosen.seed}-{hashlib.sha256(made_of.encode()).hexdigest()[:8]}"
    folder = root / TOP / SETS / name
    if not (folder / INDEX).exists():
        if dry:
            click.echo(f"would write the set {folder}")
            return None
        check_writable(root)
        click.echo(f"writing the set {folder}", err=True)
        write_set(settings, folder, lexicon_folder=lexicon)
    return folder


def sample_of_set(chosen: SetConfig) -> tuple[UserFiles, int]:
    """One user of a set and how many of them would play; of a set that is still to be written, too."""
    if chosen.folder is not None:
        users = [u for u in TimingSet.load(chosen.folder).users if chosen.chooses(u.stream.header.user_id)]
        if not users:
            raise ConfigError(f"set.users: {', '.join(chosen.users)} is none of the set's users")
        return users[0], len(users)
    settings, lexicon = _settings(chosen), chosen.lexicon or PUBLIC_LEXICON
    number = sum(chosen.chooses(user_name(n)) for n in range(USERS[settings.split]))
    made = next(generate(settings, lexicon_folder=lexicon, users=1))
    return UserFiles(made.stream, made.gold, count_priors(made.stream, made.gold)), number


def _settings(chosen: SetConfig) -> Settings:
    return Settings(
        seed=chosen.seed,
        split=chosen.split,
        salt=_salt(chosen.salt_env),
        process=chosen.process,
        target_b=chosen.burstiness,
    )


def _salt(variable: str | None) -> str:
    if variable is None:
        return PUBLIC_SALT
    if not os.environ.get(variable):
        raise UsageFault(f"set.salt_env: the environment variable {variable} is not set")
    return os.environ[variable]


async def _run(
    cells: Sequence[TimingCell],
    at_once: int,
    report: TimingReport,
    clients: ModelClients,
    show: Callable[[str], None],
) -> None:
    clients.notices.show = lambda model, seconds, why: show(f"waiting {seconds:.0f} s for {model}: {why}")

    async def run() -> None:
        async with clients:
            await run_timing(cells, report, show, at_once=at_once)

    await until_told(run)


def _narrowed(config: TimingConfig, request: RunRequest) -> TimingConfig:
    """`--select` names users, `--model` models; `--nulls` adds the players without a model."""
    overrides = request.overrides
    for given, option in (
        (request.variants, "--variant"),
        (overrides.episodes, "--episodes"),
        (overrides.compatible, "--compatible"),
    ):
        if given:
            raise UsageFault(f"{option} is for episodes; this configuration is of the timing track")
    values = config.model_dump(exclude_unset=True, by_alias=True)
    if request.select:
        values["set"] = {**values.get("set", {}), "users": list(request.select)}
    if request.models:
        said = {choice["id"]: choice for choice in values["models"]}
        values["models"] = [said.get(name, name) for name in request.models]
    if request.nulls:
        values["models"] = [*values["models"], *(choice.id for choice in missing_baselines(config))]
    try:
        return TimingConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"command line: {first_problem(error, TimingConfig)}") from error


def _print_results(config: TimingConfig, root: Path, report: TimingReport, chosen: TimingSet) -> None:
    """Every table that the run has added to, with all that lies there."""
    touched = {row["condition"] for row in report.sorted_rows}
    for condition in conditions(root, config.rules, given=chosen):
        if condition.name in touched:
            click.echo(f"\n{render_condition(condition)}")
    for row in report.sorted_rows:
        if not row["ok"]:
            click.echo(f"{'aborted' if row.get('aborted') else 'failed'}: {row['cell_id']}: {row['error']}")


def _write_summary(config: TimingConfig, root: Path, report: TimingReport) -> Path:
    path = summary_path(root, "timing", utc_stamp())
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "stage": "timing",
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "config": config.model_dump(mode="json", exclude={"registry"}),
        "rows": report.sorted_rows,
        "incomplete_cells": report.unfinished,
        "stopped": report.stopped,
    }
    write_atomic(path, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    return path
