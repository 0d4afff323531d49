"""Plays the sessions of one episode with one agent and one make of user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from atr_client.models.base import Model
from atr_client.models.meter import Meter
from atr_client.session.agent_memory import AgentMemory, WithMemory
from atr_client.session.environments import open_environment
from atr_client.session.recorder import SessionRecorder
from atr_client.session.retention import note_retention
from atr_client.session.rewording import RewordedRules
from atr_client.session.session_runner import run_session
from atr_client.session.transport_names import TransportName
from atr_client.session.transports import served
from atr_client.session.turns import SessionSettings
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Trajectory
from atr_user_sim import SimulatedUser, UserBrief, simulated_user
from atr_user_sim.interface import Classifier
from atr_user_sim.lines import official_lines
from atr_user_sim.offline import OfflineSimulator, offline_classifier, offline_router

UserMaker = Callable[[Episode, LearningSession], SimulatedUser]


@dataclass(frozen=True, slots=True)
class Users:
    """The users of an episode's learning sessions, and their Classifier, which also judges what a memory
    keeps in other words than theirs. Any other UserMaker leaves that to the words alone."""

    make: UserMaker
    classifier: Classifier

    def __call__(self, episode: Episode, session: LearningSession) -> SimulatedUser:
        return self.make(episode, session)


def offline_users(classifier: Classifier | None = None) -> Users:
    """Makes the user of each learning session from the deterministic roles; by default the better classifier
    that is installed, with what is known of the official rules. `load_lines` reads what is known of
    others."""
    router, chosen = offline_router(), classifier or offline_classifier(lines=official_lines())

    def make(episode: Episode, session: LearningSession) -> SimulatedUser:
        simulator = OfflineSimulator(UserBrief.of(episode, session))
        return simulated_user(router, chosen, simulator, episode.rules)

    return Users(make, chosen)


@dataclass(frozen=True, slots=True)
class EpisodeRunner:
    """Plays sessions of one episode, each in a fresh environment. Raises BudgetReached in place of a session
    that the sweep's limit on cost no longer allows."""

    episode: Episode
    variant: str
    model: Model
    user_of: UserMaker
    settings: SessionSettings
    meter: Meter = field(default_factory=Meter)
    transport: TransportName = "in-process"
    _reworded: RewordedRules | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        users = self.user_of
        judge = RewordedRules(users.classifier, self.episode.rules) if isinstance(users, Users) else None
        object.__setattr__(self, "_reworded", judge)

    async def __call__(
        self,
        session: LearningSession | TestSession,
        *,
        memory: AgentMemory,
        recorder: SessionRecorder,
    ) -> Trajectory:
        self.meter.check()
        user = self.user_of(self.episode, session) if isinstance(session, LearningSession) else None
        async with (
            served(self.episode, session, self.transport) as target,
            open_environment(self.episode, session, recorder, target=target) as environment,
        ):
            trajectory = await run_session(
                episode=self.episode,
                session=session,
                variant=self.variant,
                model=self.model,
                memory_context=memory.context,
                user=user,
                environment=WithMemory(environment, memory),
                settings=self.settings,
            )
        if isinstance(session, TestSession):
            await note_retention(self.episode, session, self.variant, memory, trajectory, self._reworded)
        return trajectory
