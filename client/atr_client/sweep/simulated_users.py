"""Who plays the simulated user of a sweep: programs, or models."""

from __future__ import annotations

from collections.abc import Mapping

from atr_client.cell.episode_runner import UserMaker
from atr_client.errors import ConfigError
from atr_client.models.recording import CallSite
from atr_client.models.remote import RemoteRole
from atr_client.sweep.config import Encoder, Role
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
from atr_user_sim.interface import Classifier
from atr_user_sim.offline import offline_classifier


def model_users(specs: Mapping[Role, RemoteSpec], clients: ModelClients, scope: str) -> UserMaker:
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

    return make


def chosen_classifier(name: Encoder) -> Classifier:
    """Raises ConfigError when the package that it needs is not installed."""
    try:
        return offline_classifier(name)
    except ImportError as error:
        raise ConfigError(f"user_sim.classifier: {name}: {error}") from error
