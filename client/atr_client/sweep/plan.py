"""From a configuration to the cells of a sweep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from atr_client.agents import RULE_BLIND_MODELS
from atr_client.cell.definition import Cell, CellOptions, SessionRunner
from atr_client.cell.episode_runner import EpisodeRunner, UserMaker
from atr_client.cell.known_lines import known_lines
from atr_client.cell.playable import load_playable
from atr_client.errors import ConfigError
from atr_client.models.base import Model
from atr_client.models.catalogue import packaged_catalogue
from atr_client.models.meter import Meter
from atr_client.outputs.cell_archive import CellArchive
from atr_client.outputs.commits import Commits
from atr_client.outputs.layout import CellKey
from atr_client.outputs.manifest import new_manifest
from atr_client.outputs.provenance import collect_provenance, episode_sha256
from atr_client.outputs.stores import Store
from atr_client.session.transport_names import TransportName
from atr_client.session.turns import SessionSettings
from atr_client.sweep.commands import DEFAULT_TIMEOUT, CommandEntry, CommandPlayers
from atr_client.sweep.config import CellPattern, ModelChoice, RunConfig
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.folders import episodes_folder
from atr_client.sweep.memory_layers import layer_of
from atr_client.sweep.other_personas import OtherPersonas
from atr_client.sweep.registry import Entry, RemoteEntry, chosen_models, find_model, role_specs, taught
from atr_client.sweep.selection import Selection
from atr_client.sweep.simulated_users import recorded_user, users_of_cells
from atr_data import Episode, select_episodes
from atr_data.shuffle import reordered
from atr_memory import MemoryLayer
from atr_user_sim.lines import RuleLines


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a command line says beyond the configuration file."""

    episodes: Path | None = None
    outputs: Path | Store | None = None
    fresh: bool = False
    compatible: bool = False
    allow_stale_resume: bool = False
    trace_footers: bool = True


def plan_cells(
    config: RunConfig,
    root: Path,
    overrides: Overrides | None = None,
    clients: ModelClients | None = None,
    commands: CommandPlayers | None = None,
    selection: Selection | None = None,
    store: Store | None = None,
) -> list[Cell]:
    """The cells of a configuration: every episode with every model, every variant, every layer and every
    trial, in this order, as far as `selection` wants them (by default the configuration's own).

    `clients` call the remote models; whoever gives them closes them after the sweep. `commands` plays with
    agents that are programs. With a `store` the cells are kept there, and `root` is where they are played.
    Raises ConfigError for an unknown model, for two cells that would share a folder and when no cell is
    wanted, and DataError for episodes that cannot be used.
    """
    planner = _Planner(config, root, overrides or Overrides(), clients, commands, store)
    selection = selection or Selection(config)
    cells: dict[str, Cell] = {}
    for path in select_episodes(config.episodes.select, planner.folder):
        for cell in planner.cells(path, selection):
            _add(cells, cell)
    if not cells:
        raise ConfigError(f"{config.name}: include and exclude leave no cell")
    return list(cells.values())


def cell_keys(config: RunConfig, episode: Episode, model_id: str) -> list[CellKey]:
    """The cells of one episode with one model."""
    return [
        CellKey.of(
            episode,
            variant=variant,
            model=model_id,
            layer=memory.layer_name,
            hook=config.hook,
            smoke=config.smoke,
            trial=trial,
        )
        for variant in config.variants
        for memory in config.memory
        for trial in range(1, config.trials + 1)
    ]


def null_config(config: RunConfig) -> RunConfig:
    """The same sweep with the rule-blind models that it lacks. They learn nothing, so they play the variant
    without learning sessions, once."""
    chosen = {choice.id for choice in config.models}
    lacking = [ModelChoice(id=name) for name in RULE_BLIND_MODELS if name not in chosen]
    people = [
        CellPattern(persona=pattern.persona or ["*"], episode=pattern.episode) for pattern in config.include
    ]
    changes = {
        "models": lacking,
        "variants": ["oracle_target"],
        "memory": config.memory[:1],
        "trials": 1,
        "include": people,
        "exclude": [],
    }
    return config.model_copy(update=changes)


class _Planner:
    """What the cells of a sweep have in common."""

    def __init__(
        self,
        config: RunConfig,
        root: Path,
        overrides: Overrides,
        clients: ModelClients | None,
        commands: CommandPlayers | None,
        store: Store | None,
    ) -> None:
        limits = config.limits
        self.folder = episodes_folder(config, overrides.episodes)
        self._config, self._root, self._commands, self._store = config, root, commands, store
        self._clients = clients or ModelClients(limits)
        self._options = CellOptions(
            test_sessions=limits.test_sessions,
            fresh=overrides.fresh,
            compatible=config.compatible or overrides.compatible,
            allow_stale_resume=overrides.allow_stale_resume,
            traces=config.traces,
            trace_footers=overrides.trace_footers,
        )
        self._commits = Commits()
        self._settings = SessionSettings(limits.max_steps, limits.timeout, config.hook)
        self._provenance = collect_provenance()
        self._models, self._roles = chosen_models(config), role_specs(config)
        self._lines: dict[str, RuleLines] = {}
        self._users_of = users_of_cells(config, self._roles, self._clients, self._lines)
        self._others = OtherPersonas(self.folder, config.episodes.shuffle_references)

    def cells(self, path: Path, selection: Selection) -> Iterator[Cell]:
        """Those of one episode."""
        seed = self._config.episodes.shuffle_references
        on_file = load_playable(path)
        episode = reordered(on_file, seed)
        known = {} if self._roles else known_lines(on_file, path)
        self._lines.update(known)
        of_the_episode = {
            "episode_path": str(path.resolve()),
            "episode_sha256": episode_sha256(on_file),
            "shuffle_references": seed,
            "user_sim": recorded_user(self._config, self._roles, self._clients, known),
        }
        for entry in self._models:
            keys = [k for k in cell_keys(self._config, episode, entry.model_id) if selection.wants(k)]
            agent = taught(entry, partial(self._others.than, episode, path)) if keys else entry
            for key in keys:
                yield self._cell(key, agent, episode, of_the_episode)

    def _cell(self, key: CellKey, entry: Entry, episode: Episode, of_the_episode: dict[str, Any]) -> Cell:
        settings = _settings(self._settings, entry)
        agent = None if isinstance(entry, CommandEntry) else entry.agent(key, self._clients)
        memory = self._memory(key, agent)
        manifest = new_manifest(
            key,
            self._provenance,
            **of_the_episode,
            model=entry.identity,
            address=self._clients.address(entry.spec) if isinstance(entry, RemoteEntry) else None,
            reasoning=entry.reasoning,
            memory=memory.settings,
            max_steps=settings.max_steps,
            timeout=settings.timeout,
            transport=self._config.transport,
        )
        folder = key.folder(self._root)
        users, meter, transport = self._users_of(key), self._clients.meter, self._config.transport
        runner_of = partial(_runner, episode, key.variant, users, settings, meter, transport)
        if agent is not None:
            players = runner_of(agent)
        elif isinstance(entry, CommandEntry) and self._commands:
            players = self._commands(entry.spec, folder, runner_of, settings.timeout)
        else:
            raise ConfigError(f"{entry.model_id} is a program, which is not run here")
        archive = CellArchive(self._store, key.cell_id) if self._store else None
        return Cell(
            key,
            episode,
            folder,
            manifest,
            players,
            self._options,
            self._clients.served,
            memory=memory,
            commits=Commits(partial(archive.keep, folder)) if archive else self._commits,
            archive=archive,
        )

    def _memory(self, key: CellKey, agent: Model | None) -> MemoryLayer:
        choice = next(choice for choice in self._config.memory if choice.layer_name == key.layer)
        catalogue = packaged_catalogue().extended(self._config.registry)

        def model_of(model_id: str) -> Model:
            found = find_model(ModelChoice(id=model_id), catalogue, where="memory.extractor")
            if isinstance(found, CommandEntry):
                raise ConfigError(f"memory.extractor: {model_id} is a program")
            return found.agent(key, self._clients)

        return layer_of(choice, agent, model_of)


def _runner(
    episode: Episode,
    variant: str,
    users: UserMaker,
    settings: SessionSettings,
    meter: Meter,
    transport: TransportName,
    model: Model,
) -> SessionRunner:
    return EpisodeRunner(episode, variant, model, users, settings, meter, transport)


def _settings(settings: SessionSettings, entry: Entry) -> SessionSettings:
    """A program may hang, so its sessions have a limit in any case."""
    if isinstance(entry, CommandEntry) and settings.timeout is None:
        return replace(settings, timeout=DEFAULT_TIMEOUT)
    return settings


def _add(cells: dict[str, Cell], cell: Cell) -> None:
    if other := cells.get(cell.key.cell_id):
        raise ConfigError(
            f"two cells would share the folder {cell.key.cell_id}: "
            f"{other.key.episode_id} with {other.key.model}, and {cell.key.episode_id} with {cell.key.model}"
        )
    cells[cell.key.cell_id] = cell
