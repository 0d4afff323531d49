"""Who plays a cell's sessions: the agent, the simulated user, and the session's environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from atr_client.config import Encoder, Role, UserSimConfig
from atr_client.endpoints import ModelClients, RemoteSpec
from atr_client.environments import open_environment
from atr_client.errors import ConfigError
from atr_client.models.base import AgentModel, PrivilegedModel
from atr_client.models.meter import Meter
from atr_client.models.recording import CallSite
from atr_client.models.remote import RemoteRole
from atr_client.recorder import SessionRecorder
from atr_client.session import run_session
from atr_client.turns import SessionSettings
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Trajectory
from atr_user_sim import (
    ModelClassifier,
    ModelRouter,
    ModelSimulator,
    SimulatedUser,
    UserBrief,
    simulated_user,
)
from atr_user_sim.interface import Classifier
from atr_user_sim.offline import OfflineSimulator, offline_classifier, offline_router

UserMaker = Callable[[Episode, LearningSession], SimulatedUser]


def offline_users(config: UserSimConfig) -> UserMaker:
    """Makes the user of each learning session from the deterministic roles."""
    router, classifier = offline_router(), chosen_classifier(config.encoder)

    def make(episode: Episode, session: LearningSession) -> SimulatedUser:
        simulator = OfflineSimulator(UserBrief.of(episode, session))
        return simulated_user(router, classifier, simulator, episode.rules)

    return make


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


@dataclass(frozen=True, slots=True)
class Players:
    """Plays sessions of one cell, each in a fresh environment. Raises BudgetReached in place of a session
    that the sweep's limit on cost no longer allows."""

    episode: Episode
    variant: str
    model: AgentModel | PrivilegedModel
    user_of: UserMaker
    settings: SessionSettings
    meter: Meter = field(default_factory=Meter)

    async def __call__(
        self,
        session: LearningSession | TestSession,
        *,
        memory_context: str | None,
        recorder: SessionRecorder,
    ) -> Trajectory:
        self.meter.check()
        user = self.user_of(self.episode, session) if isinstance(session, LearningSession) else None
        async with open_environment(self.episode, session, recorder) as environment:
            return await run_session(
                episode=self.episode,
                session=session,
                variant=self.variant,
                model=self.model,
                memory_context=memory_context,
                user=user,
                environment=environment,
                settings=self.settings,
            )
