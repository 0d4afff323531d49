"""The `run` command."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click
from pydantic import ValidationError
from rich.console import Console

from atr_client.cell.definition import Cell
from atr_client.cell.progress import Progress
from atr_client.cli.dry_run import show_plan
from atr_client.cli.failures import reported_errors
from atr_client.cli.live_progress import Lines, live_bars
from atr_client.errors import ConfigError
from atr_client.gateway.command_sessions import command_players
from atr_client.logs import route_structlog, terminal_log
from atr_client.models.meter import Meter
from atr_client.models.recording import chosen_exchanges
from atr_client.outputs.cell_archive import bring_all
from atr_client.outputs.fitting import print_line
from atr_client.outputs.result_tables import print_results
from atr_client.outputs.spending import spent
from atr_client.outputs.stores import Store
from atr_client.sweep.cell_order import CellOrder, order_of
from atr_client.sweep.config import RunConfig
from atr_client.sweep.config_file import first_problem, load_config, track_of
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.executors import ONE_PROCESS, executor
from atr_client.sweep.folders import check_writable, outputs_place, playing_root
from atr_client.sweep.plan import Overrides, null_config, plan_cells
from atr_client.sweep.registry import offline_user_warning, remote_specs, unlike_the_paper
from atr_client.sweep.selection import Selection
from atr_client.sweep.sweep_runner import (
    SweepReport,
    bring_finished,
    keep_summary,
    refuse_busy,
    write_summary,
)
from atr_client.sweep.tally import Tally

EXIT_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What the command line asked for. Empty `select`, `variants` and `models` leave the file's as they are;
    `changes` are `key=value` over the file's own. `nulls` adds the rule-blind models, `live` wants bars where
    there is a terminal, `dry` only the plan. `record` and `replay` are folders of recorded model calls."""

    config: str
    select: Sequence[str] = ()
    variants: Sequence[str] = ()
    models: Sequence[str] = ()
    changes: Sequence[str] = ()
    nulls: bool = False
    live: bool = True
    dry: bool = False
    record: Path | None = None
    replay: Path | None = None
    overrides: Overrides = field(default_factory=Overrides)


def run_command(request: RunRequest) -> int:
    """Runs the sweep and prints its results. Returns the exit code."""
    route_structlog()
    with reported_errors():
        if track_of(request.config) == "timing":
            from atr_client.cli.timing_run_command import timing_run_command

            return timing_run_command(request)
        config = _narrowed(load_config(request.config, request.changes), request)
        if config.executor == "dask" and (request.record or request.replay):
            raise ConfigError("--record and --replay are for sweeps on this machine, not for executor: dask")
        place = outputs_place(config, request.overrides.outputs)
        if not request.dry:
            check_writable(place)
        with playing_root(place) as root:
            return _run(request, config, place, root)


def _run(request: RunRequest, config: RunConfig, place: Path | Store, root: Path) -> int:
    """`root` is where cells are played, which is the place unless that is a store."""
    errors = Console(stderr=True)
    exchanges = chosen_exchanges(request.record, request.replay)
    clients = ModelClients(config.limits, exchanges=exchanges)
    selection = Selection(config)
    store = place if isinstance(place, Store) else None
    cells = plan_cells(config, root, request.overrides, clients, command_players, selection, store)
    nulls = null_config(config)
    null_cells = plan_cells(nulls, root, request.overrides, clients, store=store) if request.nulls else []
    configs = {cell.key: nulls for cell in null_cells}
    cells += null_cells
    for name in selection.unused:
        click.echo(f"warning: {name} matches no cell", err=True)
    if request.dry:
        show_plan(config, cells, place, clients)
        return 0
    if request.replay is None:
        clients.check(remote_specs(config))
        _count_costs(clients.meter, config, cells, request.overrides)
    refuse_busy(cells)
    alone = ONE_PROCESS if store and config.executor == "local" and config.processes != 1 else None
    for line in filter(None, [*unlike_the_paper(config), offline_user_warning(config), alone]):
        print_line(errors, f"warning: {line}", indent="    ")
    report = SweepReport([cell.key for cell in cells])

    def order(cell: Cell) -> CellOrder:
        return order_of(cell, configs.get(cell.key, config), request.overrides, place)

    interrupted = False
    try:
        with (
            executor(config, cells, clients, order, command_players) as play,
            _progress(errors, cells, live=request.live) as progress,
            terminal_log(_printer(errors)),
        ):
            play(progress, report, _printer(errors))
    except KeyboardInterrupt:
        interrupted = True
    bring_finished(cells, report)
    summary = write_summary(root, report, _arguments(request), store)
    print_results(Console(), report.sorted_rows, root)
    kept = keep_summary(summary, store) if store else summary
    print_line(Console(), f"summary: {kept}", indent="    ")
    if report.stopped:
        print_line(errors, report.stopped, indent="    ")
    if interrupted:
        click.echo("interrupted; run the same command to resume", err=True)
        return EXIT_INTERRUPTED
    return report.exit_code


def _count_costs(meter: Meter, config: RunConfig, cells: Sequence[Cell], overrides: Overrides) -> None:
    """Holds the sweep's costs against its limit, those of its earlier runs included."""
    meter.limit = config.limits.cost_usd
    if meter.limit is not None and not overrides.fresh:
        bring_all([(cell.archive, cell.folder) for cell in cells if cell.archive])
        meter.add(spent(cell.folder for cell in cells))


def _narrowed(config: RunConfig, request: RunRequest) -> RunConfig:
    values = config.model_dump(exclude_unset=True, by_alias=True)
    if request.select:
        values["episodes"] = {**values.get("episodes", {}), "select": list(request.select)}
    if request.variants:
        values["variants"] = list(request.variants)
    if request.models:
        said = {choice["id"]: choice for choice in values["models"]}
        values["models"] = [said.get(name, name) for name in request.models]
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"command line: {first_problem(error)}") from error


@contextmanager
def _progress(console: Console, cells: Sequence[Cell], *, live: bool) -> Generator[Progress]:
    tally = Tally(len(cells), sum(len(cell.sessions) for cell in cells))
    if live and console.is_terminal:
        with live_bars(console, [cell.key for cell in cells], tally) as bars:
            yield bars
    else:
        yield Lines(_printer(console), tally)


def _printer(console: Console):
    def show(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    return show


def _arguments(request: RunRequest) -> dict[str, object]:
    return {
        name: str(value) if isinstance(value, Path) else value
        for name, value in {**asdict(request), **asdict(request.overrides)}.items()
        if name != "overrides"
    }
