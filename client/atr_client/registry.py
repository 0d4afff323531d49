"""Which models can be asked for by id, and how many calls to one of them may be under way at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio

from atr_client.config import suggestion
from atr_client.errors import ConfigError
from atr_client.manifest import ModelIdentity
from atr_client.models.base import AgentModel, ModelReply, PrivilegedModel, ToolSpec
from atr_client.models.offline import OFFLINE_MODELS
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Message


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model by its id. `make` gives a fresh agent for a cell."""

    model_id: str
    summary: str
    make: Callable[[], AgentModel | PrivilegedModel]
    privileged: bool = False

    @property
    def identity(self) -> ModelIdentity:
        entry = json.dumps([self.model_id, self.privileged])
        return ModelIdentity(hashlib.sha256(entry.encode()).hexdigest(), self.privileged)


def known_models() -> list[ModelEntry]:
    return [
        ModelEntry(model_id, model.summary, model.make, model.privileged)
        for model_id, model in OFFLINE_MODELS.items()
    ]


def find_model(model_id: str) -> ModelEntry:
    """Raises ConfigError that names what is near."""
    models = {entry.model_id: entry for entry in known_models()}
    if model_id not in models:
        raise ConfigError(f"unknown model {model_id!r}{suggestion(model_id, list(models))}")
    return models[model_id]


@dataclass(frozen=True, slots=True)
class LimitedModel:
    """A model whose calls wait for their turn."""

    model: AgentModel
    limiter: anyio.CapacityLimiter

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        async with self.limiter:
            return await self.model.respond(messages, tools)


@dataclass(frozen=True, slots=True)
class LimitedPrivilegedModel:
    """The same for a model that is shown the labels."""

    model: PrivilegedModel
    limiter: anyio.CapacityLimiter

    def for_session(self, episode: Episode, session: LearningSession | TestSession) -> AgentModel:
        return LimitedModel(self.model.for_session(episode, session), self.limiter)


def limited(
    model: AgentModel | PrivilegedModel, limiter: anyio.CapacityLimiter
) -> AgentModel | PrivilegedModel:
    if isinstance(model, PrivilegedModel):
        return LimitedPrivilegedModel(model, limiter)
    return LimitedModel(model, limiter)
