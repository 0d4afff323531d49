"""From a configuration to the cells of a sweep."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from atr_client.agents import RULE_BLIND_MODELS
from atr_client.cell.definition import Cell, CellOptions, SessionRunner
from atr_client.cell.episode_runner import EpisodeRunner, UserMaker, offline_users
from atr_client.cell.playable import load_playable
from atr_client.errors import ConfigError
from atr_client.models.base import Model
from atr_client.models.meter import Meter
from atr_client.outputs.layout import CellKey
from atr_client.outputs.manifest import new_manifest
from atr_client.outputs.provenance import collect_provenance, episode_sha256
from atr_client.session.turns import SessionSettings
from atr_client.sweep.commands import DEFAULT_TIMEOUT, CommandEntry, CommandPlayers
from atr_client.sweep.config import ModelChoice, Role, RunConfig
from atr_client.sweep.endpoints import ModelClients, RemoteSpec
from atr_client.sweep.memory_layers import layer_of
from atr_client.sweep.other_personas import OtherPersonas
from atr_client.sweep.registry import Entry, RemoteEntry, chosen_models, role_specs, taught
from atr_client.sweep.simulated_users import chosen_classifier, known_lines, model_users
from atr_data import Episode, packaged_episodes_dir, select_episodes
from atr_data.shuffle import reordered
from atr_user_sim.lines import RuleLines
from atr_user_sim.offline.figures import offline_user_record

EPISODES_VARIABLE = "ATR_EPISODES"
OUTPUTS_VARIABLE = "ATR_OUTPUTS_ROOT"


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a command line says beyond the configuration file."""

    episodes: Path | None = None
    outputs: Path | None = None
    fresh: bool = False
    compatible: bool = False
    allow_stale_resume: bool = False
    trace_footers: bool = True


def episodes_folder(
    config: RunConfig, option: Path | None = None, environment: Mapping[str, str] = os.environ
) -> Path:
    """The option, else the configuration, else ATR_EPISODES, else the episodes that ship with the package.

    Raises ConfigError when the configuration wants a folder and nobody names one.
    """
    if folder := option or config.episodes.folder:
        return folder
    if from_environment := environment.get(EPISODES_VARIABLE):
        return Path(from_environment)
    if config.episodes.needs_folder:
        raise ConfigError(
            f"{config.name}: name the folder of the episodes with --episodes DIR or {EPISODES_VARIABLE}"
        )
    return packaged_episodes_dir()


def outputs_root(
    config: RunConfig, option: Path | None = None, environment: Mapping[str, str] = os.environ
) -> Path:
    """The option, else ATR_OUTPUTS_ROOT, else the configuration."""
    if option:
        return option
    from_environment = environment.get(OUTPUTS_VARIABLE)
    return Path(from_environment) if from_environment else config.outputs


def check_writable(root: Path) -> None:
    """Creates the folder if need be. Raises ConfigError when nothing can be written there."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=root, prefix=".write-test-"):
            pass
    except OSError as error:
        raise ConfigError(f"outputs folder {root} cannot be written to: {error.strerror}") from error


def plan_cells(
    config: RunConfig,
    root: Path,
    overrides: Overrides | None = None,
    clients: ModelClients | None = None,
    commands: CommandPlayers | None = None,
) -> list[Cell]:
    """The cells of a configuration: every episode with every model, variant and memory, in this order.

    `clients` call the remote models; whoever gives them closes them after the sweep. `commands` plays with
    agents that are programs.
    Raises ConfigError for an unknown model or for two cells that would share a folder, and DataError for
    episodes that cannot be used.
    """
    overrides = overrides or Overrides()
    clients = clients or ModelClients(config.limits)
    folder = episodes_folder(config, overrides.episodes)
    options = CellOptions(
        test_sessions=config.limits.test_sessions,
        fresh=overrides.fresh,
        compatible=config.compatible or overrides.compatible,
        allow_stale_resume=overrides.allow_stale_resume,
        traces=config.traces,
        trace_footers=overrides.trace_footers,
    )
    settings = SessionSettings(config.limits.max_steps, config.limits.timeout, config.hook)
    provenance = collect_provenance()
    models, roles = chosen_models(config), role_specs(config)
    lines: dict[str, RuleLines] = {}
    users_of = users_of_cells(config, roles, clients, lines)
    cells: dict[str, Cell] = {}
    others = OtherPersonas(folder, config.episodes.shuffle_references)
    for path in select_episodes(config.episodes.select, folder):
        on_file = load_playable(path)
        digest = episode_sha256(on_file)
        known = {} if roles else known_lines(on_file, path)
        lines.update(known)
        user_sim = recorded_user(config, roles, clients, known)
        episode = reordered(on_file, config.episodes.shuffle_references)
        for entry in (taught(entry, partial(others.than, episode, path)) for entry in models):
            for variant, memory in product(config.variants, config.memory):
                key = CellKey.of(
                    episode,
                    variant=variant,
                    model=entry.model_id,
                    layer=memory.layer_name,
                    hook=config.hook,
                    smoke=config.smoke,
                )
                cell_settings = _settings(settings, entry)
                manifest = new_manifest(
                    key,
                    provenance,
                    episode_path=str(path.resolve()),
                    episode_sha256=digest,
                    shuffle_references=config.episodes.shuffle_references,
                    model=entry.identity,
                    address=clients.address(entry.spec) if isinstance(entry, RemoteEntry) else None,
                    reasoning=entry.reasoning,
                    user_sim=user_sim,
                    memory=memory.settings,
                    max_steps=config.limits.max_steps,
                    timeout=cell_settings.timeout,
                )
                runner_of = partial(_runner, episode, variant, users_of(key), cell_settings, clients.meter)
                if not isinstance(entry, CommandEntry):
                    players = runner_of(entry.agent(key, clients))
                elif commands:
                    players = commands(entry.spec, key.folder(root), runner_of, cell_settings.timeout)
                else:
                    raise ConfigError(f"{entry.model_id} is a program, which is not run here")
                cell = Cell(
                    key,
                    episode,
                    key.folder(root),
                    manifest,
                    players,
                    options,
                    clients.served,
                    memory=layer_of(memory),
                )
                _add(cells, cell)
    return list(cells.values())


def _runner(
    episode: Episode, variant: str, users: UserMaker, settings: SessionSettings, meter: Meter, model: Model
) -> SessionRunner:
    return EpisodeRunner(episode, variant, model, users, settings, meter)


def _settings(settings: SessionSettings, entry: Entry) -> SessionSettings:
    """A program may hang, so its sessions have a limit in any case."""
    if isinstance(entry, CommandEntry) and settings.timeout is None:
        return replace(settings, timeout=DEFAULT_TIMEOUT)
    return settings


def null_config(config: RunConfig) -> RunConfig:
    """The same sweep with the rule-blind models that it lacks. They learn nothing, so they play the variant
    without learning sessions."""
    chosen = {choice.id for choice in config.models}
    lacking = [ModelChoice(id=name) for name in RULE_BLIND_MODELS if name not in chosen]
    return config.model_copy(update={"models": lacking, "variants": ["oracle_target"]})


def users_of_cells(
    config: RunConfig,
    roles: Mapping[Role, RemoteSpec],
    clients: ModelClients,
    lines: Mapping[str, RuleLines],
) -> Callable[[CellKey], UserMaker]:
    """Makes the users of one cell's sessions, given its key. `lines` are those of all episodes: one
    classifier serves the sweep, so that each pool is read once."""
    if roles:
        return lambda key: model_users(roles, clients, key.cell_id)
    offline = offline_users(chosen_classifier(config.user_sim.comparison, lines))
    return lambda _: offline


def recorded_user(
    config: RunConfig,
    roles: Mapping[Role, RemoteSpec],
    clients: ModelClients,
    lines: Mapping[str, RuleLines],
) -> dict[str, Any]:
    """Who plays the user, as the manifest has it."""
    if not roles:
        return offline_user_record(config.user_sim.comparison, lines)
    recorded = {
        role: {
            "model": spec.model.model_id,
            "address": clients.address(spec),
            "settings": spec.settings,
            "sha256": spec.settings_sha256,
        }
        for role, spec in roles.items()
    }
    return {"make": "model", **recorded}


def _add(cells: dict[str, Cell], cell: Cell) -> None:
    if other := cells.get(cell.key.cell_id):
        raise ConfigError(
            f"two cells would share the folder {cell.key.cell_id}: "
            f"{other.key.episode_id} with {other.key.model}, and {cell.key.episode_id} with {cell.key.model}"
        )
    cells[cell.key.cell_id] = cell
