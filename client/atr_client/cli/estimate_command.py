"""The `estimate` command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from atr_client.cli.failures import reported_errors
from atr_client.models.meter import cost_text
from atr_client.sweep.config import load_config
from atr_client.sweep.estimate import Estimate, Measured, estimate
from atr_client.sweep.plan import episodes_folder, outputs_root
from atr_client.sweep.registry import RemoteEntry, chosen_models, role_specs
from atr_data import load_episode, select_episodes
from atr_data.usage import Usage


def estimate_command(config_name: str, episodes: Path | None, outputs: Path | None) -> None:
    with reported_errors():
        config = load_config(config_name)
        folder = episodes_folder(config, episodes)
        chosen = [load_episode(path) for path in select_episodes(config.episodes.select, folder)]
        root = outputs_root(config, outputs)
        agents = [
            (entry.model_id, entry.spec if isinstance(entry, RemoteEntry) else None)
            for entry in chosen_models(config)
        ]
        lines = estimate(agents, role_specs(config), chosen, config.variants, Measured.under(root))
    for row in _table(lines):
        click.echo(row)
    for source in sorted(frozenset[str]().union(*(line.sources for line in lines))):
        models = sorted({line.model_id for line in lines if source in line.sources})
        click.echo(f"averages from {source}: {', '.join(models)}")
    click.echo(
        f"earlier runs were looked for under {root}; discounts for cached tokens as they were measured"
    )


def _table(lines: Sequence[Estimate]) -> Iterator[str]:
    total = sum((line.usage for line in lines), Usage())
    rows = [
        ("model", "variant", "sessions", "calls", "tokens in", "tokens out", "cost"),
        *((line.model_id, line.variant, f"{line.sessions:,}", *_amounts(line.usage)) for line in lines),
        ("all", "", f"{sum(line.sessions for line in lines):,}", *_amounts(total)),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        names = (f"{cell:<{width}}" for cell, width in zip(row[:2], widths[:2], strict=True))
        numbers = (f"{cell:>{width}}" for cell, width in zip(row[2:], widths[2:], strict=True))
        yield "  ".join((*names, *numbers))


def _amounts(usage: Usage) -> tuple[str, ...]:
    counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    return (*(f"{count:,}" for count in counts), cost_text(usage) or "$0.00")
