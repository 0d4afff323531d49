"""The cell of an agent that comes from outside."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from atr_client.cell.definition import Cell, CellOptions
from atr_client.cell.episode_runner import EpisodeRunner, UserMaker
from atr_client.cell.known_lines import known_lines
from atr_client.cell.learn_freeze_test import check_statements
from atr_client.cell.playable import load_playable
from atr_client.errors import ConfigError
from atr_client.gateway.desk import Desk, Mode
from atr_client.gateway.person import Person, person_users
from atr_client.models.base import Model
from atr_client.outputs.layout import CellFolder, CellKey
from atr_client.outputs.manifest import ModelIdentity, gate, new_manifest, read_manifest
from atr_client.outputs.provenance import Provenance, collect_provenance, episode_sha256
from atr_client.session.layers import named_layer
from atr_client.session.turns import SessionSettings
from atr_client.sweep.config import RunConfig
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.memory_layers import layer_of
from atr_client.sweep.registry import role_specs
from atr_client.sweep.simulated_users import (
    chosen_classifier,
    recorded_user,
    users_of_cells,
)
from atr_data import Episode
from atr_data.variants import VARIANTS
from atr_memory import MemoryLayer

EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class ExternalPlay:
    """Who plays what. `layer` is a memory layer by its name, or by what the configuration calls it. `agent`
    names the agent in tables and in the cell's folder. `fresh` removes what the cell has on disk,
    `allow_stale_resume` goes on with sessions of another run. `human_user`: a person plays the user."""

    episode: Path
    variant: str
    outputs: Path
    layer: str = "context"
    agent: str = EXTERNAL
    mode: Mode = "episode"
    settings: SessionSettings = field(default_factory=SessionSettings)
    fresh: bool = False
    allow_stale_resume: bool = False
    human_user: bool = False


def external_desk(
    play: ExternalPlay,
    config: RunConfig,
    clients: ModelClients | None = None,
    provenance: Provenance | None = None,
) -> Desk:
    """The desk at which it is played. `config` says who plays the user; `clients` call its models,
    `provenance` is collected unless it is given.

    Raises DataError for an episode that cannot be used, ConfigError for a name that cannot stand in a path or
    a part that cannot be played yet, PreflightError when an oracle lacks a statement, ManifestMismatch when
    the folder holds sessions of another run.
    """
    if play.variant not in VARIANTS:
        raise ConfigError(f"unknown variant {play.variant!r}; one of: {', '.join(VARIANTS)}")
    memory = _memory(play.layer, config)
    episode = load_playable(play.episode)
    check_statements(episode, play.variant)
    roles, clients = role_specs(config), clients or ModelClients(config.limits)
    lines = {} if roles else known_lines(episode, play.episode)
    person = Person() if play.human_user else None
    key = CellKey.of(
        episode, variant=play.variant, model=play.agent, layer=play.layer, hook=False, smoke=config.smoke
    )
    entry = json.dumps([EXTERNAL, play.agent])
    manifest = new_manifest(
        key,
        provenance or collect_provenance(),
        episode_path=str(play.episode.resolve()),
        episode_sha256=episode_sha256(episode),
        model=ModelIdentity(hashlib.sha256(entry.encode()).hexdigest(), agent=EXTERNAL),
        reasoning=None,
        user_sim=recorded_user(config, roles, clients, lines) | ({"make": "human"} if person else {}),
        memory=memory.settings,
        max_steps=play.settings.max_steps,
        timeout=play.settings.timeout,
    )

    def users() -> UserMaker:
        if person is None:
            return users_of_cells(config, roles, clients, lines)(key)
        return person_users(person, chosen_classifier(config.user_sim.comparison, lines))

    def cell_of(model: Model) -> Cell:
        return Cell(
            key,
            episode,
            key.folder(play.outputs),
            manifest,
            EpisodeRunner(episode, play.variant, model, users(), play.settings),
            CellOptions(fresh=play.fresh, allow_stale_resume=play.allow_stale_resume, traces=config.traces),
            clients.served,
            memory=memory,
        )

    desk = Desk(cell_of, play.settings, play.mode)
    desk.person = person
    existing = None if play.fresh else read_manifest(desk.cell.folder.manifest)
    if existing is not None:
        gate(existing, manifest, allow_stale=play.allow_stale_resume)
    if play.mode == "test":
        _check_learned(episode, desk.cell.folder, [h.session.session_id for h in desk.learning])
    return desk


def _memory(name: str, config: RunConfig) -> MemoryLayer:
    """The layer that the configuration calls so, else one of which there is nothing to say but its name."""
    choice = next((choice for choice in config.memory if choice.layer_name == name), None)
    if choice is not None and choice.kind == "home":
        raise ConfigError("memory home: a program that is played with keeps its files itself; use none")
    return named_layer(name) if choice is None else layer_of(choice, None)


def _check_learned(episode: Episode, folder: CellFolder, learning: Sequence[str]) -> None:
    missing = [name for name in learning if not folder.trajectory(name).exists()]
    if missing:
        raise ConfigError(
            f"{episode.episode_id}: mode test: {len(missing)} of {len(learning)} learning sessions were not "
            f"played below {folder.path}; play --mode learn first"
        )
