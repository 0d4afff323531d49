"""Who plays the simulated user of a sweep: programs, or models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from atr_client.cell.episode_runner import UserMaker, Users, offline_users
from atr_client.errors import ConfigError
from atr_client.models.recording import CallSite
from atr_client.models.remote import RemoteRole
from atr_client.outputs.layout import CellKey
from atr_client.sweep.config import Role, RunConfig
from atr_client.sweep.endpoints import ModelClients, RemoteSpec
from atr_data.episode import Episode, LearningSession
from atr_user_sim import (
    ModelClassifier,
    ModelRouter,
    ModelSimulator,
    SimulatedUser,
    UserBrief,
    simulated_user,
)
from atr_user_sim.lines import RuleLines
from atr_user_sim.offline import OfflineClassifier, TextComparison, offline_encoder
from atr_user_sim.offline.figures import offline_user_record
from atr_user_sim.offline.minilm import TextEncoder

_OF_THE_MEMORY = "memory"
"""Under which session stand recorded calls in which the Classifier judges a memory: of a cell, not of one
session, as each sentence is judged once."""


def model_users(specs: Mapping[Role, RemoteSpec], clients: ModelClients, scope: str) -> Users:
    """Makes the user of each learning session of one cell from models; `scope` is the cell's id."""

    def make(episode: Episode, session: LearningSession) -> SimulatedUser:
        def role(name: Role, usage_role: str) -> RemoteRole:
            return RemoteRole(clients.client(specs[name]), CallSite(scope, session.session_id, usage_role))

        return simulated_user(
            ModelRouter(role("router", "router")),
            ModelClassifier(role("classifier", "classifier")),
            ModelSimulator(role("simulator", "user_sim"), UserBrief.of(episode, session)),
            episode.rules,
        )

    site = CallSite(scope, _OF_THE_MEMORY, "classifier")
    return Users(make, ModelClassifier(RemoteRole(clients.client(specs["classifier"]), site)))


def chosen_encoder(comparison: TextComparison) -> TextEncoder | None:
    """Raises ConfigError when the package that it needs is not installed."""
    try:
        return offline_encoder(comparison)
    except ImportError as error:
        raise ConfigError(f"user_sim.classifier: {comparison}: {error}") from error


def chosen_classifier(
    comparison: TextComparison, lines: Mapping[str, RuleLines] | None = None
) -> OfflineClassifier:
    """`lines` are what the user knows of her rules. Raises ConfigError as `chosen_encoder` does."""
    return OfflineClassifier(chosen_encoder(comparison), lines)


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
