"""Who can play the timing track: the players without a model, and every model of the registry."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atr_client.agents import OFFLINE_MODELS
from atr_client.errors import ConfigError
from atr_client.models.base import AgentModel, PerSession
from atr_client.models.catalogue import Reasoning, packaged_catalogue
from atr_client.models.remote import remote_agent
from atr_client.outputs.manifest import ModelIdentity
from atr_client.sweep.commands import CommandEntry
from atr_client.sweep.config import suggestion
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.model_choice import ModelChoice
from atr_client.sweep.registry import RemoteEntry, find_model
from atr_client.timing.baselines import BASELINES, PRIVILEGED, make_baseline
from atr_client.timing.chooser_agent import ChooserAgent
from atr_client.timing.choosers.chooser import User
from atr_client.timing.timing_config import TimingConfig

AgentOf = Callable[[str], AgentModel]
"""The agent of one session, by its id."""


@dataclass(frozen=True, slots=True)
class ChooserPlayer:
    """One of the players without a model. It learns from the set's files, so it has no use for notes."""

    model_id: str
    reasoning: Reasoning | None = None
    takes_notes: bool = False
    forgets: bool = True

    @property
    def identity(self) -> ModelIdentity:
        entry = json.dumps(["timing", self.model_id])
        return ModelIdentity(hashlib.sha256(entry.encode()).hexdigest(), self.model_id in PRIVILEGED)

    def agents(self, cell_id: str, clients: ModelClients, user: User, users: Sequence[User]) -> AgentOf:
        chooser = make_baseline(self.model_id, user, users)
        return lambda session_id: ChooserAgent(chooser, user, user.stream.sitting(session_id))


@dataclass(frozen=True, slots=True)
class ModelPlayer:
    """A model that is reached over the network."""

    entry: RemoteEntry
    takes_notes: bool = True
    forgets: bool = True

    @property
    def model_id(self) -> str:
        return self.entry.model_id

    @property
    def reasoning(self) -> Reasoning | None:
        return self.entry.reasoning

    @property
    def identity(self) -> ModelIdentity:
        return self.entry.identity

    def agents(self, cell_id: str, clients: ModelClients, user: User, users: Sequence[User]) -> AgentOf:
        spec = self.entry.spec
        agent: PerSession = remote_agent(clients.client(spec), cell_id, temperature=spec.temperature)
        return agent.agent


@dataclass(frozen=True, slots=True)
class ExternalPlayer:
    """An agent that comes from outside, under the name that tables call it. Whoever lets it in gives the cell
    its agents."""

    model_id: str
    reasoning: Reasoning | None = None
    takes_notes: bool = True
    forgets: bool = False

    @property
    def identity(self) -> ModelIdentity:
        entry = json.dumps(["timing", "external", self.model_id])
        return ModelIdentity(hashlib.sha256(entry.encode()).hexdigest(), agent="external")

    def agents(self, cell_id: str, clients: ModelClients, user: User, users: Sequence[User]) -> AgentOf:
        raise ConfigError(f"{self.model_id} comes from outside and cannot be called")


TimingPlayer = ChooserPlayer | ModelPlayer | ExternalPlayer


def chosen_players(config: TimingConfig) -> list[TimingPlayer]:
    """The agents of a run. Raises ConfigError for a name that nobody has, or one of the other track."""
    catalogue = packaged_catalogue().extended(config.registry)
    found: list[TimingPlayer] = []
    for index, choice in enumerate(config.models):
        where = f"models.{index}"
        if choice.id in BASELINES:
            if choice.entry:
                raise ConfigError(f"{where}: {choice.id!r} is offline; a registry entry is for others")
            found.append(ChooserPlayer(choice.id))
            continue
        if choice.id.startswith("offline/"):
            other = "plays episodes" if choice.id in OFFLINE_MODELS else "is unknown"
            raise ConfigError(f"{where}: {choice.id!r} {other}{suggestion(choice.id, BASELINES)}")
        entry = find_model(choice, catalogue, reasoning=config.reasoning, where=where)
        if isinstance(entry, CommandEntry):
            raise ConfigError(f"{where}: {choice.id!r} is a program: play it with `atr-client timing play`")
        assert isinstance(entry, RemoteEntry), "offline ids were handled above"
        found.append(ModelPlayer(entry))
    return found


def missing_baselines(config: TimingConfig) -> list[ModelChoice]:
    """The players without a model that a configuration lacks."""
    chosen = {choice.id for choice in config.models}
    return [ModelChoice(id=name) for name in BASELINES if name not in chosen]
