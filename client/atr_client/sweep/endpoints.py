"""The clients of a sweep's remote models: one per endpoint, opened when first used, closed together."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from types import TracebackType
from typing import Any

import anyio

from atr_client.errors import ConfigError, ModelError
from atr_client.models.addresses import shown_address
from atr_client.models.catalogue import Reasoning, RemoteModel
from atr_client.models.meter import Meter
from atr_client.models.pricing import cost_of
from atr_client.models.rates import RateCeiling
from atr_client.models.recording import Exchanges, Live
from atr_client.models.remote import ModelClient, close_all, open_wire
from atr_client.models.retry import RetryPolicy
from atr_client.models.standing import Standing
from atr_client.models.waits import WaitNotices
from atr_client.models.wire import Endpoint, Wire
from atr_client.models.wire_formats import WIRE_FORMATS
from atr_client.models.wires._http import check_endpoint
from atr_client.outputs.served_models import ServedModels
from atr_client.sweep.config import LimitConfig
from atr_data.usage import Usage

CLOSING_SECONDS = 5.0

_SHORTEST_KEY = 8
_SENDING = frozenset(
    {"wire", "sampling", "max_output_tokens", "payload_format"}
    | {"faithful_replay", "structured_output", "prompts_after_text", "user_after_tool"}
    | {"echo_reasoning", "content_parts", "call_ids", "seed_name"}
)
"""What decides, beside model and parameters, how a conversation is sent."""


def _sha256(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RemoteSpec:
    """A remote model as a run uses it; `where` is the configuration key that names it."""

    model: RemoteModel
    where: str
    reasoning: Reasoning | None = None
    temperature: float = 0.0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides what is sent; keys, prices, ceilings and the address are no part of it."""
        entry = self.model.entry
        return {
            "id": self.model.model_id,
            "name": self.model.model,
            **entry.model_dump(mode="json", include=set(_SENDING)),
            "parameters": entry.reasoning.parameters(self.reasoning),
            "reasoning": self.reasoning,
            "temperature": self.temperature,
        }

    @property
    def settings_sha256(self) -> str:
        return _sha256(self.settings)

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides what is sent where."""
        return _sha256([self.settings, self.model.entry.base_url])

    def address(self, environment: Mapping[str, str]) -> str | None:
        """Where its calls go, without what may be a secret; None: the SDK's own address."""
        base_url = self.model.base_url(environment)
        if base_url is None:
            return None
        shown, key = shown_address(base_url), environment.get(self.model.entry.key or "", "")
        return shown.replace(key, "[key]") if len(key) >= _SHORTEST_KEY else shown

    def endpoint(self, environment: Mapping[str, str], *, timeout: float) -> Endpoint:
        """Raises ConfigError in one line when the key is missing, or key or address cannot be used."""
        try:
            endpoint = self.model.endpoint(environment, reasoning=self.reasoning, timeout=timeout)
            check_endpoint(endpoint)
        except (LookupError, ModelError) as error:
            raise ConfigError(f"{self.where}: {error.args[0]}") from None
        return endpoint

    @property
    def has_price(self) -> bool:
        return cost_of(Usage(prompt_tokens=1, completion_tokens=1, calls=1), self.model) is not None


class ModelClients:
    """Use as an async context: leaving it closes every client, also when the sweep was cancelled.

    Limits on calls hold per model, whatever number of endpoints a model is used with; so does the word of its
    provider that it refuses the model. `notices` tells of long waits.
    """

    def __init__(
        self,
        limits: LimitConfig | None = None,
        *,
        exchanges: Exchanges | None = None,
        environment: Mapping[str, str] = os.environ,
        meter: Meter | None = None,
    ) -> None:
        self._limits = limits or LimitConfig()
        self.served = ServedModels(exchanges or Live())
        self._environment = environment
        self._clients: dict[tuple[str, str], ModelClient] = {}
        self._limiters: dict[str, anyio.CapacityLimiter] = {}
        self._ceilings: dict[str, RateCeiling] = {}
        self._standings: dict[str, Standing] = {}
        self.meter = meter or Meter()
        self.notices = WaitNotices()

    def client(self, spec: RemoteSpec) -> ModelClient:
        model_id, limits = spec.model.model_id, self._limits
        key = (model_id, spec.digest)
        if key not in self._clients:
            self._clients[key] = ModelClient(
                spec.model,
                lambda: self._open(spec),
                exchanges=self.served,
                limiter=self.limiter(model_id),
                ceiling=self._ceilings.setdefault(
                    model_id,
                    RateCeiling(
                        spec.requests_per_minute or limits.requests_per_minute,
                        spec.tokens_per_minute or limits.tokens_per_minute,
                    ),
                ),
                policy=RetryPolicy(attempts=limits.call_attempts),
                meter=self.meter,
                standing=self._standings.setdefault(model_id, Standing()),
                notices=self.notices,
            )
        return self._clients[key]

    def take_share(self, shares: int) -> None:
        """From now on these clients are one of so many alike, and each takes its part of every limit."""
        limits = self._limits
        self._limits = limits.model_copy(
            update={
                "calls_per_model": ceil(limits.calls_per_model / shares),
                "requests_per_minute": _part(limits.requests_per_minute, shares),
                "tokens_per_minute": _part(limits.tokens_per_minute, shares),
            }
        )
        for limiter in self._limiters.values():
            limiter.total_tokens = ceil(limits.calls_per_model / shares)
        for ceiling in self._ceilings.values():
            ceiling.take_share(shares)

    def address(self, spec: RemoteSpec) -> str | None:
        """Where the calls of a model go, as it may be written down."""
        return spec.address(self._environment)

    def limiter(self, model_id: str) -> anyio.CapacityLimiter:
        """Lets through as many calls of a model at once as `limits.calls_per_model` says."""
        if model_id not in self._limiters:
            self._limiters[model_id] = anyio.CapacityLimiter(self._limits.calls_per_model)
        return self._limiters[model_id]

    def check(self, specs: Iterable[RemoteSpec]) -> None:
        """Raises ConfigError in one line for the first model that cannot be called as things stand: no key,
        no SDK, an address that is none, or a limit on cost without a price."""
        for spec in specs:
            spec.endpoint(self._environment, timeout=self._limits.call_timeout)
            if WIRE_FORMATS[spec.model.entry.wire].version is None:
                raise ConfigError(f"{spec.where}: {missing_sdk(spec)}")
            if self._limits.cost_usd is not None and not spec.has_price:
                raise ConfigError(
                    f"limits.cost_usd: the price of {spec.model.model_id} is unknown, so the limit cannot "
                    f"hold; write it under registry.models.{spec.model.model_id}.price"
                )

    def _open(self, spec: RemoteSpec) -> Wire:
        try:
            endpoint = spec.endpoint(self._environment, timeout=self._limits.call_timeout)
        except ConfigError as error:
            raise ModelError(str(error)) from None
        return open_wire(spec.model.entry.wire, endpoint)

    async def __aenter__(self) -> ModelClients:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with anyio.move_on_after(CLOSING_SECONDS, shield=True):
            await close_all(list(self._clients.values()))


def missing_sdk(spec: RemoteSpec) -> str:
    sdk = WIRE_FORMATS[spec.model.entry.wire]
    return (
        f"model {spec.model.model_id} needs the package {sdk.distribution}: "
        f"pip install 'atrbench[{sdk.extra}]'"
    )


def _part(limit: int | None, shares: int) -> int | None:
    return None if limit is None else max(1, limit // shares)
