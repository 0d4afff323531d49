"""Which models can be asked for by id, and how many calls to one of them may be under way at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import anyio

from atr_client.agents import OFFLINE_MODELS, OfflineModel
from atr_client.errors import ConfigError
from atr_client.models.base import AgentModel, Model, ModelReply, PerSession, Privileged, ToolSpec
from atr_client.models.catalogue import Catalogue, Reasoning, packaged_catalogue
from atr_client.models.remote import remote_agent
from atr_client.outputs.layout import CellKey
from atr_client.outputs.manifest import ModelIdentity
from atr_client.outputs.provenance import episode_sha256
from atr_client.sweep.commands import COMMAND_PREFIX, CommandEntry, command_spec
from atr_client.sweep.config import PAPER_ROLES, ModelChoice, Role, RunConfig, suggestion
from atr_client.sweep.endpoints import ModelClients, RemoteSpec
from atr_data.episode import Episode
from atr_data.trajectory import Message
from atr_user_sim.offline.figures import accuracy


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """An offline model by its id. `others` are the episodes whose labels it was taught."""

    model_id: str
    offline: OfflineModel
    reasoning: Reasoning | None = "on"
    others: Sequence[Episode] = ()

    @property
    def identity(self) -> ModelIdentity:
        privileged = self.offline.privileged
        entry = json.dumps([self.model_id, privileged, *map(episode_sha256, self.others)])
        return ModelIdentity(hashlib.sha256(entry.encode()).hexdigest(), privileged)

    def agent(self, key: CellKey, clients: ModelClients) -> Model:
        return limited(self.offline.model(self.others), clients.limiter(self.model_id))


@dataclass(frozen=True, slots=True)
class RemoteEntry:
    """A model that is reached over the network, as a run uses it."""

    spec: RemoteSpec

    @property
    def model_id(self) -> str:
        return self.spec.model.model_id

    @property
    def reasoning(self) -> Reasoning | None:
        return self.spec.reasoning

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity(self.spec.settings_sha256, settings=self.spec.settings)

    def agent(self, key: CellKey, clients: ModelClients) -> Model:
        """Each trial has a seed of its own, where seeds are sent."""
        seed = None if key.seed is None else key.seed + key.trial - 1
        return remote_agent(clients.client(self.spec), key.cell_id, seed, self.spec.temperature)


Entry = ModelEntry | RemoteEntry | CommandEntry


def taught(entry: Entry, others: Callable[[], Sequence[Episode]]) -> Entry:
    """The entry, taught the episodes of other personas if its model learns from them; else `others` is not
    called."""
    if isinstance(entry, ModelEntry) and entry.offline.taught:
        return replace(entry, others=others())
    return entry


def known_models() -> list[ModelEntry]:
    """The offline models; those of the catalogue are found by `find_model` too."""
    return [ModelEntry(model_id, model) for model_id, model in OFFLINE_MODELS.items()]


def find_model(
    choice: ModelChoice,
    catalogue: Catalogue | None = None,
    *,
    reasoning: Reasoning | None = "on",
    where: str = "models",
) -> Entry:
    """An offline model of that id, else one of the catalogue, by default the packaged one. `reasoning` is
    the run's, `where` the configuration key that names the model. Raises ConfigError that names what is near.
    """
    offline = {entry.model_id: entry for entry in known_models()}
    if choice.id.startswith(COMMAND_PREFIX):
        return _command(choice, where)
    if choice.id in offline and choice.entry:
        raise ConfigError(f"{where}: {choice.id!r} is offline; what a registry entry says is for others")
    if choice.id in offline:
        return replace(offline[choice.id], reasoning=choice.reasoning_in(reasoning))
    if choice.id.startswith("offline/"):
        raise ConfigError(f"{where}: unknown model {choice.id!r}{suggestion(choice.id, list(offline))}")
    try:
        model = (catalogue or packaged_catalogue()).find(choice.id, choice.entry)
    except LookupError as error:
        raise ConfigError(f"{where}: {error.args[0]}") from None
    spec = RemoteSpec(
        model,
        where,
        choice.reasoning_in(reasoning),
        choice.temperature or 0.0,
        choice.requests_per_minute,
        choice.tokens_per_minute,
    )
    return RemoteEntry(spec)


def _command(choice: ModelChoice, where: str) -> CommandEntry:
    if choice.entry or choice.temperature is not None:
        raise ConfigError(f"{where}: {choice.id!r} is a command; wire, address, key and price are for others")
    try:
        return CommandEntry(
            command_spec(choice.id, choice.command, choice.environment, choice.pass_environment)
        )
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None


def chosen_models(config: RunConfig) -> list[Entry]:
    """The agents of a sweep. Raises ConfigError."""
    catalogue = packaged_catalogue().extended(config.registry)
    return [
        find_model(choice, catalogue, reasoning=config.reasoning, where=f"models.{index}")
        for index, choice in enumerate(config.models)
    ]


def role_specs(config: RunConfig) -> dict[Role, RemoteSpec]:
    """The remote models of a model-backed user, by role; sampling and reasoning stay at the provider's
    defaults. Empty for the offline user. Raises ConfigError."""
    catalogue = packaged_catalogue().extended(config.registry)
    specs: dict[Role, RemoteSpec] = {}
    for role, name in config.user_sim.role_models.items():
        entry = find_model(ModelChoice(id=name, reasoning=None), catalogue, where=f"user_sim.{role}")
        if not isinstance(entry, RemoteEntry):
            raise ConfigError(f"user_sim.{role}: {name!r} is an agent and cannot play the user")
        specs[role] = entry.spec
    return specs


def unlike_the_paper(config: RunConfig) -> list[str]:
    """A line for each role that another model plays than in the published results."""
    catalogue = packaged_catalogue()
    return [
        f"user_sim.{role} is {spec.model.model_id}; the published results have {paper.model_id}"
        for role, spec in role_specs(config).items()
        if spec.model.model_id != (paper := catalogue.find(PAPER_ROLES[role])).model_id
    ]


def offline_user_warning(config: RunConfig) -> str | None:
    """One line when models or commands, which are no programs of ours, play against the offline user."""
    foreign = any(not isinstance(entry, ModelEntry) for entry in chosen_models(config))
    if not foreign or config.user_sim.make != "offline":
        return None
    found = accuracy(config.user_sim.comparison, with_lines=True)
    return (
        f"the user is played offline and judges at best {found:.0%} of questions rightly: scores are not"
        " comparable with those against a user that models play (user_sim: {make: model})"
    )


def remote_specs(config: RunConfig) -> list[RemoteSpec]:
    """Every remote model of a sweep, agents first. Raises ConfigError."""
    agents = [entry.spec for entry in chosen_models(config) if isinstance(entry, RemoteEntry)]
    return [*agents, *role_specs(config).values()]


@dataclass(frozen=True, slots=True)
class LimitedModel:
    """A model whose calls wait for their turn."""

    model: AgentModel
    limiter: anyio.CapacityLimiter

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        async with self.limiter:
            return await self.model.respond(messages, tools)


def limited(model: Model, limiter: anyio.CapacityLimiter) -> Model:
    """The same model, of the same standing, with every call in its turn."""
    if isinstance(model, Privileged):
        return Privileged(lambda episode, session: LimitedModel(model.agent(episode, session), limiter))
    if isinstance(model, PerSession):
        return PerSession(lambda session_id: LimitedModel(model.agent(session_id), limiter))
    return LimitedModel(model, limiter)
