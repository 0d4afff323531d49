"""Commands on models: what there is, what it will cost, whether it answers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import anyio
import click

from atr_client.cli_errors import RunFault, reported_errors
from atr_client.config import LimitConfig, ModelChoice, load_config
from atr_client.doctor import examine
from atr_client.endpoints import ModelClients, RemoteSpec
from atr_client.errors import ConfigError
from atr_client.estimate import Estimate, Measured, estimate
from atr_client.models.catalogue import Catalogue, RemoteModel, packaged_catalogue
from atr_client.models.meter import cost_text, dollars
from atr_client.models.offline import RULE_BLIND_MODELS
from atr_client.models.recording import CallSite
from atr_client.models.remote import RemoteRole
from atr_client.plan import episodes_folder, outputs_root
from atr_client.registry import (
    ModelEntry,
    RemoteEntry,
    chosen_models,
    find_model,
    known_models,
    remote_specs,
    role_specs,
)
from atr_data import load_episode, select_episodes
from atr_data.usage import Usage
from atr_user_sim import ModelClassifier, ModelRouter, UserSimFault
from atr_user_sim.calibration import calibrate_classifier, calibrate_router, own_turns

PATIENCE = 60.0
"""Seconds that the doctor waits for an endpoint at most."""


def models_command(config: str | None) -> None:
    """Lists offline models, and those of the catalogue with the variable of their key, never its value."""
    with reported_errors():
        catalogue = packaged_catalogue()
        if config:
            catalogue = catalogue.extended(load_config(config).registry)
        offline = [(entry.model_id, _offline_notes(entry)) for entry in known_models()]
        remote = [(id_, _remote_notes(catalogue, catalogue.find(id_))) for id_ in catalogue.models]
    width = max(len(model_id) for model_id, _ in (*offline, *remote))
    for model_id, notes in (*offline, *remote):
        click.echo(f"{model_id:<{width}}  {notes}")
    click.echo(f"Any other model of {', '.join(catalogue.providers)} runs by its id: provider/model")


def _offline_notes(entry: ModelEntry) -> str:
    mark = " (privileged)" if entry.privileged else ""
    return f"{entry.summary}{mark or (' (rule-blind)' if entry.model_id in RULE_BLIND_MODELS else '')}"


def _remote_notes(catalogue: Catalogue, model: RemoteModel) -> str:
    return "; ".join(_facts(catalogue, model))


def _facts(catalogue: Catalogue, model: RemoteModel) -> Iterator[str]:
    entry = model.entry
    yield entry.wire
    if aliases := catalogue.models[model.model_id].aliases:
        yield f"also {', '.join(aliases)}"
    if entry.context:
        yield f"{entry.context:,} tokens"
    if entry.key:
        yield f"key {entry.key}: {'set' if os.environ.get(entry.key) else 'not set'}"
    else:
        yield "no key needed"


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


def doctor_command(config_name: str) -> int:
    """Returns 1 when a model of the configuration is not ready."""
    with reported_errors():
        config = load_config(config_name)
        specs = remote_specs(config)
        found = anyio.run(examine, specs, os.environ, min(config.limits.call_timeout, PATIENCE))
    if not specs:
        click.echo("every model of this configuration is offline: nothing to check")
    for diagnosis in found:
        click.echo(diagnosis.render())
    return 1 if any(diagnosis.problem for diagnosis in found) else 0


def calibrate_model_command(
    role: Literal["router", "classifier"], file: Path | None, model: str, config_name: str | None
) -> None:
    """Measures a model in the part of a role, and tells what that cost."""
    with reported_errors():
        config = load_config(config_name) if config_name else None
        registry = config.registry if config else Catalogue()
        catalogue = packaged_catalogue().extended(registry)
        entry = find_model(ModelChoice(id=model, reasoning=None), catalogue, where="--model")
        if not isinstance(entry, RemoteEntry):
            raise ConfigError(f"--model: {model!r} is an agent and cannot play the {role}")
        clients = ModelClients(config.limits if config else LimitConfig())
        clients.check([entry.spec])
        try:
            lines = anyio.run(_calibrated, role, file or own_turns(role), entry.spec, clients)
        except UserSimFault as error:
            raise RunFault(str(error)) from error
    for line in lines:
        click.echo(line)
    if entry.spec.has_price:
        click.echo(f"cost {dollars(clients.meter.dollars)}")


async def _calibrated(
    role: Literal["router", "classifier"], file: Path, spec: RemoteSpec, clients: ModelClients
) -> list[str]:
    async with clients:
        model = RemoteRole(clients.client(spec), CallSite("calibration", role, role))
        if role == "router":
            return (await calibrate_router(ModelRouter(model), file)).render()
        return (await calibrate_classifier(ModelClassifier(model), file)).render()
