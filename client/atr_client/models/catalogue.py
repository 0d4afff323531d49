"""The model registry: which models there are, how each is reached, and what it costs."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from atr_client.models.wire import CallIdForm, ContentParts, EchoReasoning, Endpoint
from atr_client.models.wire_formats import WIRE_FORMATS, WireFormat
from atr_data.yaml_reading import read_yaml

Reasoning = Literal["on", "off"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Price(_Section):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)


def on_off(value: Any) -> Any:
    """YAML 1.1 reads a bare `on` or `off` as a boolean; this reads it back."""
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


class ReasoningSwitch(_Section):
    """Request parameters for each position of the switch."""

    on: dict[str, Any] = {}
    off: dict[str, Any] = {}
    unset: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _bare_words(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {on_off(key): item for key, item in cast(dict[Any, Any], value).items()}

    def parameters(self, position: Reasoning | None) -> dict[str, Any]:
        return {"on": self.on, "off": self.off, None: self.unset}[position]


UserAfterTool = Literal["direct", "bridged"]


class ProviderEntry(_Section):
    """How the models of one provider are reached. `key` and `base_url_env` name environment variables.
    `prompts_after_text`: a text of the agent that nobody answers is followed by the user's "Continue."; many
    servers take a conversation that ends with the assistant for a reply to be completed, or refuse it.
    `user_after_tool`: `bridged` puts a word of the assistant between a tool's result and the user, where a
    server refuses the one after the other. The other keys are those of Endpoint."""

    wire: WireFormat
    key: str | None = None
    base_url: str | None = None
    base_url_env: str | None = None
    sampling: bool = True
    max_output_tokens: int | None = Field(default=None, gt=0)
    payload_format: str | None = None
    faithful_replay: bool = True
    structured_output: bool = True
    echo_reasoning: EchoReasoning = "as_sent"
    content_parts: ContentParts = "as_sent"
    call_ids: CallIdForm = "any"
    seed_name: str = Field(default="seed", min_length=1)
    prompts_after_text: bool = True
    user_after_tool: UserAfterTool = "direct"
    reasoning: ReasoningSwitch = ReasoningSwitch()
    context: int | None = Field(default=None, gt=0)
    price: Price | None = None


class ModelFacts(_Section):
    """What can be said of a model beyond its provider, wherever it is said; null says nothing. `model` is the
    name on the wire, by default the id without the provider."""

    model: str | None = None
    aliases: list[str] = []
    wire: WireFormat | None = None
    key: str | None = None
    base_url: str | None = None
    base_url_env: str | None = None
    sampling: bool | None = None
    max_output_tokens: int | None = Field(default=None, gt=0)
    payload_format: str | None = None
    faithful_replay: bool | None = None
    structured_output: bool | None = None
    echo_reasoning: EchoReasoning | None = None
    content_parts: ContentParts | None = None
    call_ids: CallIdForm | None = None
    seed_name: str | None = Field(default=None, min_length=1)
    prompts_after_text: bool | None = None
    user_after_tool: UserAfterTool | None = None
    context: int | None = Field(default=None, gt=0)
    price: Price | None = None


class ModelOverride(ModelFacts):
    """An entry of the registry."""

    reasoning: ReasoningSwitch | None = None


class Catalogue(_Section):
    """Providers and models as the registry file, or a run configuration, has them."""

    providers: dict[str, ProviderEntry] = {}
    models: dict[str, ModelOverride] = {}

    def extended(self, other: Catalogue) -> Catalogue:
        """This one with the entries of another. Its providers replace those of the same name; what it says
        about a model wins, key by key."""
        models = dict(self.models)
        for name, entry in other.models.items():
            model_id = self._canonical(name)
            models[model_id] = _over(models.get(model_id), entry)
        return Catalogue(providers={**self.providers, **other.providers}, models=models)

    @property
    def names(self) -> list[str]:
        """Every id and alias that is written down."""
        return [name for id_, entry in self.models.items() for name in (id_, *entry.aliases)]

    def find(self, name: str, said: ModelOverride | None = None) -> RemoteModel:
        """A model by id or alias; `said` wins over its entry. Any model of a known provider can be had by its
        id.

        Raises LookupError in one line, with what would be right.
        """
        model_id = self._canonical(name)
        override = _over(self.models.get(model_id), said or ModelOverride())
        provider_name, _, rest = model_id.partition("/")
        provider = self.providers.get(provider_name)
        changes = override.model_dump(exclude_none=True, exclude={"model", "aliases"})
        if provider is None and "wire" not in changes:
            raise LookupError(self._unknown(name))
        base = provider.model_dump() if provider else {}
        entry = ProviderEntry.model_validate({**base, **changes})
        wire_name = override.model or rest
        if not wire_name:
            raise LookupError(f"model {name!r} has no name behind its provider; write {name}/MODEL")
        return RemoteModel(model_id=model_id, provider=provider_name, model=wire_name, entry=entry)

    def _canonical(self, name: str) -> str:
        return next((id_ for id_, entry in self.models.items() if name in entry.aliases), name)

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ";"
        return (
            f"unknown model {name!r}{hint} an id is provider/model with one of the providers "
            f"{', '.join(self.providers)}, or an entry under registry.models that names its wire"
        )


def _over(base: ModelOverride | None, said: ModelOverride) -> ModelOverride:
    """One entry with another one's keys put over it."""
    below = base.model_dump(exclude_unset=True) if base else {}
    return ModelOverride.model_validate({**below, **said.model_dump(exclude_unset=True)})


class RemoteModel(_Section):
    """A model that is reached over the network."""

    model_id: str
    provider: str
    model: str
    entry: ProviderEntry

    def base_url(self, environment: Mapping[str, str]) -> str | None:
        """The address in force; None: the one that the SDK knows itself."""
        entry = self.entry
        override = environment.get(entry.base_url_env) if entry.base_url_env else None
        return override or entry.base_url or environment.get(WIRE_FORMATS[entry.wire].address) or None

    def endpoint(
        self, environment: Mapping[str, str], *, reasoning: Reasoning | None, timeout: float
    ) -> Endpoint:
        """Raises LookupError when the variable that should hold the key is not set."""
        entry = self.entry
        key = environment.get(entry.key, "") if entry.key else "none"
        if not key:
            raise LookupError(f"model {self.model_id}: the environment variable {entry.key} is not set")
        return Endpoint(
            model=self.model,
            api_key=key,
            base_url=self.base_url(environment),
            timeout=timeout,
            max_output_tokens=entry.max_output_tokens,
            parameters=entry.reasoning.parameters(reasoning),
            sampling=entry.sampling,
            payload_format=entry.payload_format,
            faithful_replay=entry.faithful_replay,
            structured_output=entry.structured_output,
            echo_reasoning=entry.echo_reasoning,
            content_parts=entry.content_parts,
            call_ids=entry.call_ids,
            seed_name=entry.seed_name,
        )


def registry_path() -> Path:
    """The registry that ships with the package, in a checkout or an installed wheel."""
    package = Path(str(files("atr_client")))
    inside = package / "configs" / "models.yaml"
    return inside if inside.exists() else package.parent.parent / "configs" / "models.yaml"


def packaged_catalogue() -> Catalogue:
    return Catalogue.model_validate(read_yaml(registry_path()))
