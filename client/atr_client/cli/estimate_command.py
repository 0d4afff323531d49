"""The `estimate` command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
from rich import box
from rich.console import Console
from rich.table import Table

from atr_client.cli.failures import reported_errors
from atr_client.models.meter import cost_text, dollars
from atr_client.outputs.fitting import print_line, print_table
from atr_client.sweep.config_file import load_config, track_of
from atr_client.sweep.estimate import CellOutlook, Estimate, Measured, Stop, budget_stop, estimate
from atr_client.sweep.folders import episodes_folder, outputs_place, outputs_root
from atr_client.sweep.plan import cell_keys
from atr_client.sweep.registry import RemoteEntry, chosen_models, role_specs
from atr_client.sweep.selection import Selection
from atr_data import load_episode, select_episodes
from atr_data.usage import Usage

_COLUMNS = ("model", "variant", "sessions", "calls", "tokens in", "tokens out", "cost")


def estimate_command(
    config_name: str, episodes: Path | None, outputs: Path | None, changes: Sequence[str] = ()
) -> None:
    with reported_errors():
        if track_of(config_name) == "timing":
            _timing_estimate(config_name, outputs, changes)
            return
        config = load_config(config_name, changes)
        folder = episodes_folder(config, episodes)
        chosen = [load_episode(path) for path in select_episodes(config.episodes.select, folder)]
        place = outputs_place(config, outputs)
        measured = Measured.under(place) if isinstance(place, Path) else Measured()
        selection = Selection(config)
        cells = [
            CellOutlook(
                episode, key.model, key.variant, entry.spec if isinstance(entry, RemoteEntry) else None
            )
            for episode in chosen
            for entry in chosen_models(config)
            for key in cell_keys(config, episode, entry.model_id)
            if selection.wants(key)
        ]
        sweep = (cells, role_specs(config), measured)
        lines = estimate(*sweep)
        limit = config.limits.cost_usd
        stop = budget_stop(*sweep, limit=limit) if limit is not None else None
    console = Console()
    _print_lines(console, lines)
    if limit is not None:
        total = sum((line.usage for line in lines), Usage())
        print_line(console, _budget_line(limit, stop, total), indent="    ")
    looked = f"under {place}" if isinstance(place, Path) else f"nowhere: fetch {place.address} into a folder"
    print_line(
        console,
        f"earlier runs were looked for {looked}; discounts for cached tokens as they were measured",
        indent="    ",
    )


def _timing_estimate(name: str, outputs: Path | None, changes: Sequence[str]) -> None:
    from atr_client.cli.timing_run_command import sample_of_set
    from atr_client.timing.timing_config import load_timing_config
    from atr_client.timing.timing_outlook import timing_estimate

    config = load_timing_config(name, changes)
    root = outputs_root(config, outputs)
    sample, users = sample_of_set(config.set)
    lines = anyio.run(timing_estimate, config, sample, users, root)
    console = Console()
    _print_lines(console, lines)
    if not lines:
        print_line(console, "every player of this configuration is without a model and costs nothing")
    total, limit = sum((line.usage for line in lines), Usage()), config.limits.cost_usd
    if limit is not None and total.cost_usd is not None and total.cost_usd > limit:
        print_line(console, f"limits.cost_usd: {dollars(limit)} would stop the run", indent="    ")
    elif limit is not None:
        print_line(console, _budget_line(limit, None, total), indent="    ")


def _print_lines(console: Console, lines: Sequence[Estimate]) -> None:
    """The table, and what its averages rest on."""
    _print_table(console, lines)
    for source in sorted({source for line in lines for source in line.sources.values()}):
        rows = (_row_name(line, source) for line in lines if source in line.sources.values())
        print_line(console, f"averages from {source}: {', '.join(rows)}", indent="    ")


def _row_name(line: Estimate, source: str) -> str:
    """The row, and which of its parts when not all of them rest on this source."""
    parts = [part for part, found in line.sources.items() if found == source]
    which = "" if len(parts) == len(line.sources) else f" ({', '.join(parts)})"
    return f"{line.model_id} {line.variant}{which}"


def _budget_line(limit: float, stop: Stop | None, total: Usage) -> str:
    if stop is None and total.made_calls and total.cost_usd is None:
        return f"limits.cost_usd: nobody knows whether {dollars(limit)} suffice, a price is unknown"
    if stop is None:
        return f"limits.cost_usd: {dollars(limit)} suffice for the whole run"
    return (
        f"limits.cost_usd: {dollars(limit)} would stop the run after {stop.sessions_done:,} of "
        f"{stop.sessions:,} sessions, in cell {stop.cell:,} of {stop.cells:,}: "
        f"{stop.episode_id} {stop.model_id} {stop.variant}"
    )


def _print_table(console: Console, lines: Sequence[Estimate]) -> None:
    """On a terminal in as many parts as its width needs; elsewhere one line per row, for programs to read."""
    total = sum((line.usage for line in lines), Usage())
    rows = [
        *((line.model_id, line.variant, f"{line.sessions:,}", *_amounts(line.usage)) for line in lines),
        ("all", "", f"{sum(line.sessions for line in lines):,}", *_amounts(total)),
    ]
    if not console.is_terminal:
        for row in _plain([_COLUMNS, *rows]):
            print_line(console, row)
        return
    table = Table(box=box.SIMPLE)
    for number, name in enumerate((" ".join(_COLUMNS[:2]), *_COLUMNS[2:])):
        table.add_column(name, justify="right" if number else "left")
    for model, variant, *amounts in rows:
        table.add_row(f"{model} {variant}", *amounts)
    print_table(console, table)


def _plain(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        names = (f"{cell:<{width}}" for cell, width in zip(row[:2], widths[:2], strict=True))
        numbers = (f"{cell:>{width}}" for cell, width in zip(row[2:], widths[2:], strict=True))
        yield "  ".join((*names, *numbers))


def _amounts(usage: Usage) -> tuple[str, ...]:
    counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    return (*(f"{count:,}" for count in counts), cost_text(usage) or "$0.00")
