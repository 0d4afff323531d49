"""Whether every remote model of a configuration can be called, found out before a sweep."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import anyio

from atr_client.errors import ConfigError, ModelError, WireError
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.models.remote import open_wire
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wire_formats import WIRE_FORMATS, WireFormat
from atr_client.sweep.endpoints import RemoteSpec, missing_sdk
from atr_data.trajectory import Message

NOT_FOUND = 404
SMALLEST_REPLY = 16
"""Tokens that every provider takes as the limit of a reply."""

_PROBE = WireRequest(
    [
        Message(role="system", content="You check a connection."),
        Message(role="user", content="Call the tool ping."),
    ],
    [ToolSpec("ping", "Answers.", {"type": "object", "properties": {}})],
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is known of one endpoint, `problem` None when it is ready. Keys are never part of it."""

    model_id: str
    key: str
    sdk: str
    answer: str = ""
    problem: str | None = None

    def render(self) -> str:
        state = "not ready" if self.problem else "ready"
        told = "; ".join(filter(None, (self.key, self.sdk, self.answer, self.problem)))
        return f"{state:<9}  {self.model_id}  {told}"


async def examine(
    specs: Sequence[RemoteSpec], environment: Mapping[str, str], patience: float
) -> list[Diagnosis]:
    """One call of a few tokens with a tool to every endpoint, all at once; `patience` in seconds for each."""
    endpoints = list({spec.digest: spec for spec in specs}.values())
    found: dict[str, Diagnosis] = {}

    async def one(spec: RemoteSpec) -> None:
        found[spec.digest] = await _diagnose(spec, environment, patience)

    async with anyio.create_task_group() as group:
        for spec in endpoints:
            group.start_soon(one, spec)
    return [found[spec.digest] for spec in endpoints]


async def _diagnose(spec: RemoteSpec, environment: Mapping[str, str], patience: float) -> Diagnosis:
    entry, sdk = spec.model.entry, WIRE_FORMATS[spec.model.entry.wire]
    key = "no key needed"
    if entry.key:
        key = f"{entry.key} {'set' if environment.get(entry.key) else 'not set'}"
    known = Diagnosis(spec.model.model_id, key, f"{sdk.distribution} {sdk.version or 'not installed'}")
    if sdk.version is None:
        return replace(known, problem=missing_sdk(spec))
    endpoint: Endpoint | None = None
    try:
        endpoint = spec.endpoint(environment, timeout=patience)
        started = time.perf_counter()
        reply = await _call(entry.wire, replace(endpoint, max_output_tokens=SMALLEST_REPLY))
    except (ConfigError, ModelError) as error:
        return replace(known, problem=str(error))
    except WireError as error:
        status = f"HTTP {error.status}: " if error.status else ""
        asked = _address(error, endpoint) if error.status == NOT_FOUND else None
        return replace(known, problem=f"{status}{error}{f' (asked {asked})' if asked else ''}")
    tool = "called the tool" if reply.tool_calls else "did not call the tool"
    return replace(known, answer=f"answered in {time.perf_counter() - started:.2f} s, {tool}")


def _address(error: BaseException, endpoint: Endpoint | None) -> str | None:
    """Where the request went, without what may be secret in it: an address that is wrong is found by it."""
    cause: BaseException | None = error
    while cause is not None:
        response = getattr(cause, "response", None)
        if url := getattr(response, "url", None):
            return _bare(str(url))
        cause = cause.__cause__ or cause.__context__
    return _bare(endpoint.base_url) if endpoint and endpoint.base_url else None


def _bare(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


async def _call(wire_format: WireFormat, endpoint: Endpoint) -> ModelReply:
    wire = open_wire(wire_format, endpoint)
    try:
        return await wire.send(_PROBE)
    finally:
        await wire.aclose()
