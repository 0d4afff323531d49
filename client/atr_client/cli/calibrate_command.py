"""The `calibrate` command: a role of the simulated user, offline or played by a model."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Literal

import anyio
import click

from atr_client.cell.known_lines import known_lines
from atr_client.cli.failures import RunFault, reported_errors
from atr_client.errors import ConfigError
from atr_client.models.catalogue import Catalogue, packaged_catalogue
from atr_client.models.meter import dollars
from atr_client.models.recording import CallSite
from atr_client.models.remote import RemoteRole
from atr_client.sweep.config import LimitConfig, ModelChoice
from atr_client.sweep.config_file import load_config
from atr_client.sweep.endpoints import ModelClients, RemoteSpec
from atr_client.sweep.registry import RemoteEntry, find_model
from atr_client.sweep.simulated_users import chosen_classifier, chosen_encoder
from atr_data import load_episode
from atr_user_sim import ModelClassifier, ModelRouter, UserSimFault
from atr_user_sim.calibration import calibrate_classifier, calibrate_router
from atr_user_sim.calibration.folds import Hands, own_questions, own_turns
from atr_user_sim.calibration.lines_gate import measure_lines, passes_gate
from atr_user_sim.calibration.measure import earlier_file, measure_classifier, measure_router
from atr_user_sim.calibration.records import agent_questions
from atr_user_sim.interface import PoolRule
from atr_user_sim.lines import load_lines
from atr_user_sim.offline import TextComparison, default_comparison, offline_router

Role = Literal["router", "classifier", "lines"]

_KNOWLEDGE: Mapping[Hands, str] = {
    "both": "lines of two hands",
    "first": "lines of the hand that wrote no question",
    "none": "statements alone",
}


def calibrate_command(
    role: Role,
    file: Path | None,
    chosen: TextComparison | None,
    lines: Path | None,
    every: int,
) -> None:
    """Of a file, or of our own data, judged by weights that did not see its personas and writers. `chosen`
    is how texts are compared, by default as the user of a run does."""
    comparison = chosen or default_comparison()
    with reported_errors():
        if lines and (role != "classifier" or not file):
            raise ConfigError(
                "--lines tells of the rules in a FILE of classifier questions, and there is none"
            )
        if role == "lines":
            found = anyio.run(_lines, file, comparison)
        elif role == "router":
            found = anyio.run(_router, file, every)
        elif file:
            known = load_lines(lines) if lines else None
            found = anyio.run(calibrate_classifier, chosen_classifier(comparison, known), file)
            found = found.render(f"classifier ({comparison})")
        else:
            found = anyio.run(_classifier, comparison, every)
    for line in found:
        click.echo(line)


async def _router(file: Path | None, every: int) -> list[str]:
    if file:
        return (await calibrate_router(offline_router(), file)).render()
    return (await measure_router(islice(own_turns(), 0, None, every))).render(
        "router, each group of writers left out"
    )


async def _classifier(comparison: TextComparison, every: int) -> list[str]:
    found: list[str] = []
    chosen_encoder(comparison)  # refused here as everywhere; each group of writers has one of its own
    for hands, known in _KNOWLEDGE.items():
        heading = f"classifier ({comparison}, {known}), each group of writers left out"
        result = await measure_classifier(islice(own_questions(comparison, hands), 0, None, every))
        found += result.render(heading, confusions=False)
    asked = own_questions(comparison, "both", agent_questions())
    heading = f"classifier ({comparison}, lines of two hands), in an agent's voice, personas left out"
    return found + (await measure_classifier(islice(asked, 0, None, every))).render(heading, confusions=False)


async def _lines(file: Path | None, comparison: TextComparison) -> list[str]:
    """Gate S7 for the episode in the file."""
    if file is None:
        raise ConfigError("calibrate lines: FILE is an episode, with its question lines beside it")
    episode = load_episode(file)
    lines = known_lines(episode, file)
    if not lines:
        raise ConfigError(f"{file}: no question lines lie beside it")
    pool = {rule.rule_id: rule.canonical_answer for rule in episode.rules}
    rules = [PoolRule(*rule) for rule in pool.items()]
    result = await measure_lines(chosen_classifier(comparison), rules, lines)
    heading = f"lines of one hand, judged with those of the other ({comparison})"
    return [*result.render(heading), f"  gate S7: {'holds' if passes_gate(result) else 'does not hold'}"]


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
            lines = anyio.run(_calibrated, role, file or earlier_file(role), entry.spec, clients)
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
