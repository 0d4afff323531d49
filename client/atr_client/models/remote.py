"""A model behind a wire: limits, retries and prices around it, an agent and a role in front of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, cast

import anyio

from atr_client.errors import ModelError, ModelStopped, WireError
from atr_client.logs import get_logger
from atr_client.models.base import ModelReply, PerSession, ToolSpec
from atr_client.models.catalogue import RemoteModel
from atr_client.models.dialects import in_dialect
from atr_client.models.guess import guessed_usage
from atr_client.models.meter import Meter
from atr_client.models.pricing import cost_of
from atr_client.models.rates import RateCeiling
from atr_client.models.recording import CallSite, Exchanges
from atr_client.models.retry import RetryPolicy, with_retries
from atr_client.models.standing import Standing
from atr_client.models.waits import WaitNotices
from atr_client.models.wire import Endpoint, Wire, WireRequest
from atr_client.models.wire_formats import WireFormat
from atr_data.trajectory import Message
from atr_data.usage import Usage
from atr_user_sim.interface import ChatMessage, Completion, CompletionFault, ToolOffer

WireOpener = Callable[[], Wire]


def open_wire(wire: WireFormat, endpoint: Endpoint) -> Wire:
    """The client of an endpoint. Raises ModelError that names the extra when the SDK is not installed."""
    return cast(Wire, import_module(f"atr_client.models.wires.{wire}").open_wire(endpoint))


class ModelClient:
    """One model for a whole sweep: opened at its first call, closed with the sweep."""

    def __init__(
        self,
        model: RemoteModel,
        opener: WireOpener,
        *,
        exchanges: Exchanges,
        limiter: anyio.CapacityLimiter,
        ceiling: RateCeiling | None = None,
        policy: RetryPolicy | None = None,
        meter: Meter | None = None,
        standing: Standing | None = None,
        notices: WaitNotices | None = None,
    ) -> None:
        self.model = model
        self._opener = opener
        self._exchanges = exchanges
        self._limiter = limiter
        self._ceiling = ceiling or RateCeiling()
        self._policy = policy or RetryPolicy()
        self._meter = meter or Meter()
        self._standing = standing or Standing()
        self._notices = notices or WaitNotices()
        self._silent = False
        self._wire: Wire | None = None

    async def send(self, site: CallSite, request: WireRequest) -> ModelReply:
        """Raises ModelError when the call failed for good, ModelStopped when every other one would."""
        model_id = self.model.model_id
        request = replace(request, messages=in_dialect(request.messages, self.model.entry))

        async def call() -> ModelReply:
            async with self._limiter:
                return await with_retries(
                    lambda: self._once(request), self._policy, model=model_id, notices=self._notices
                )

        try:
            reply = await self._standing.guarded(
                lambda: self._exchanges.exchange(site, model_id, request, call)
            )
        except WireError as error:
            status = f"HTTP {error.status}: " if error.status else ""
            reason = f"{model_id}: {status}{error}"
            if not error.final:
                raise ModelError(reason) from error
            self._standing.stop(reason)
            raise ModelStopped(reason) from error
        usage = self._metered(request, reply)
        self._meter.add(usage)
        return replace(reply, usage=usage)

    def _metered(self, request: WireRequest, reply: ModelReply) -> Usage:
        """What the call took, and its cost: unknown without a word of the provider, unless tokens are free.
        An estimate stands beside it then."""
        if reply.usage is not None:
            return replace(reply.usage, cost_usd=cost_of(reply.usage, self.model))
        if self._meter.limit is not None and not self._silent:
            self._silent = True
            get_logger().warning(
                "the provider does not report tokens: limits.cost_usd counts an estimate",
                model=self.model.model_id,
            )
        estimate = cost_of(guessed_usage(request, reply), self.model)
        return Usage(calls_without_usage=1, cost_usd=0.0 if estimate == 0 else None, estimated_usd=estimate)

    async def _once(self, request: WireRequest) -> ModelReply:
        model_id = self.model.model_id
        await self._ceiling.admit(
            lambda seconds: self._notices.tell(
                model_id, seconds, "its calls or tokens per minute are used up"
            )
        )
        if self._wire is None:
            self._wire = self._opener()
        reply = await self._wire.send(request)
        self._ceiling.spent((reply.usage or guessed_usage(request, reply)).total_tokens)
        return reply

    async def aclose(self) -> None:
        if self._wire is not None:
            await self._wire.aclose()
            self._wire = None


async def close_all(clients: Sequence[ModelClient]) -> None:
    async with AsyncExitStack() as stack:
        for client in clients:
            stack.push_async_callback(client.aclose)


def remote_agent(
    client: ModelClient, scope: str, seed: int | None = None, temperature: float = 0.0
) -> PerSession:
    """The agent under test, for one cell. Temperature and seed go where the endpoint takes them."""

    def agent(session_id: str) -> _Agent:
        return _Agent(client, CallSite(scope, session_id, "agent"), seed, temperature)

    return PerSession(agent)


@dataclass(frozen=True, slots=True)
class _Agent:
    client: ModelClient
    site: CallSite
    seed: int | None
    temperature: float

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        request = WireRequest(messages, tools, temperature=self.temperature, seed=self.seed)
        return await self.client.send(self.site, request)


@dataclass(frozen=True, slots=True)
class RemoteRole:
    """A model in the part of Router, Classifier or simulator, for one session. Sampling stays at the
    provider's defaults."""

    client: ModelClient
    site: CallSite

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolOffer] = (),
    ) -> Completion:
        request = WireRequest(
            [Message(role=message.role, content=message.content) for message in messages],
            [ToolSpec(tool.name, tool.description, tool.input_schema) for tool in tools],
            schema=schema,
        )
        try:
            reply = await self.client.send(self.site, request)
        except ModelError as error:
            raise CompletionFault(str(error)) from error
        return Completion(reply.content, reply.tool_calls, reply.usage)
