"""Recording model calls, and playing them back in place of the model.

A store is a folder. Calls lie in `<scope>/<session>.jsonl`, one line each, keyed by role, digest of the
request and occurrence (a retry repeats a request). What recurs in every request of a session, its tools, lies
once in `tools/<digest>.json`. Keys are no part of a request, so they cannot get into a store.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, TypeAdapter, model_validator

from atr_client.errors import ConfigError, ContextOverflow, DamagedRecording, NotRecorded
from atr_client.models.base import ModelReply
from atr_client.models.wire import WireRequest
from atr_data.errors import DataError
from atr_data.files import naming, write_atomic
from atr_data.reading import Missing, path_problem, read_records

_REPLY = TypeAdapter(ModelReply)
_MESSAGE_FIELDS = {
    "role": True,
    "content": True,
    "tool_calls": {"__all__": {"id", "name", "arguments", "parse_error"}},
    "tool_call_id": True,
    "tool_error": True,
    "reasoning_content": True,
    "native_assistant_payload": True,
    "native_payload_format": True,
}


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where a model call is made: a cell (`scope`, a path of names), a session of it, and the role."""

    scope: str
    session_id: str
    role: str


class _Line(BaseModel):
    """One recorded call: what was asked, and the reply or why there was none."""

    role: str
    digest: str
    occurrence: int
    request: dict[str, Any]
    reply: ModelReply | None = None
    context_overflow: str | None = None

    @model_validator(mode="after")
    def _has_an_outcome(self) -> _Line:
        if (self.reply is None) == (self.context_overflow is None):
            raise ValueError("a call has either a reply or a context_overflow")
        return self


Call = Callable[[], Awaitable[ModelReply]]


class Exchanges(Protocol):
    """Stands between the caller and the model."""

    async def exchange(
        self, site: CallSite, model_id: str, request: WireRequest, call: Call
    ) -> ModelReply: ...


class Live:
    """Every call goes to the model."""

    async def exchange(self, site: CallSite, model_id: str, request: WireRequest, call: Call) -> ModelReply:
        return await call()


@dataclass(slots=True)
class Recording:
    """Every call goes to the model and into the store. A session that is run again is recorded again."""

    folder: Path
    _seen: Counter[tuple[CallSite, str]] = field(default_factory=Counter[tuple[CallSite, str]])
    _begun: set[Path] = field(default_factory=set[Path])

    async def exchange(self, site: CallSite, model_id: str, request: WireRequest, call: Call) -> ModelReply:
        body, digest = self._stored(model_id, request)
        try:
            reply = await call()
        except ContextOverflow as overflow:
            self._write(site, body, digest, {"context_overflow": str(overflow)})
            raise
        self._write(site, body, digest, {"reply": _REPLY.dump_python(reply, mode="json")})
        return reply

    def _write(self, site: CallSite, body: dict[str, Any], digest: str, outcome: dict[str, Any]) -> None:
        occurrence = self._seen[site, digest]
        self._seen[site, digest] += 1
        line = {
            "role": site.role,
            "digest": digest,
            "occurrence": occurrence,
            "request": body,
            **outcome,
        }
        path = _path(self.folder, site)
        path.parent.mkdir(parents=True, exist_ok=True)
        with naming(path), path.open("ab" if path in self._begun else "wb") as stream:
            stream.write(_as_line(line))
        self._begun.add(path)

    def _stored(self, model_id: str, request: WireRequest) -> tuple[dict[str, Any], str]:
        body = canonical(model_id, request)
        tools = [asdict(tool) for tool in request.tools]
        path = self.folder / "tools" / f"{body['tools']}.json"
        if tools and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, json.dumps(tools, ensure_ascii=False, indent=1) + "\n")
        return body, _digest(body)


@dataclass(slots=True)
class Replay:
    """Every call is answered from the store; the model is never asked. Raises NotRecorded, DamagedRecording
    for a line that cannot be read, and ContextOverflow where the model did."""

    folder: Path
    _seen: Counter[tuple[CallSite, str]] = field(default_factory=Counter[tuple[CallSite, str]])
    _lines: dict[Path, list[_Line]] = field(default_factory=dict[Path, list[_Line]])

    async def exchange(self, site: CallSite, model_id: str, request: WireRequest, call: Call) -> ModelReply:
        body = canonical(model_id, request)
        digest = _digest(body)
        recorded = [line for line in self._recorded(site) if line.role == site.role]
        occurrence = self._seen[site, digest]
        self._seen[site, digest] += 1
        for line in recorded:
            if (line.digest, line.occurrence) == (digest, occurrence):
                if line.reply is None:
                    raise ContextOverflow(line.context_overflow or "the conversation was too long")
                return line.reply
        raise NotRecorded(_what_is_missing(site, body, occurrence, recorded))

    def _recorded(self, site: CallSite) -> list[_Line]:
        path = _path(self.folder, site)
        if path not in self._lines:
            self._lines[path] = _recorded_calls(path)
        return self._lines[path]


def _recorded_calls(path: Path) -> list[_Line]:
    """The lines of a recording; none when there is no file. Raises DamagedRecording."""
    try:
        return list(read_records(path, _Line.model_validate, "recorded call"))
    except Missing:
        return []
    except DataError as error:
        raise DamagedRecording(f"the recording cannot be used: {error}") from error


def chosen_exchanges(record: Path | None, replay: Path | None) -> Exchanges:
    """Raises ConfigError when both are asked for, or when there is no store to play back."""
    if record and replay:
        raise ConfigError("--record and --replay exclude each other")
    if problem := path_problem(record or replay or "x"):
        raise ConfigError(problem)
    if replay:
        if not replay.is_dir():
            raise ConfigError(f"--replay: {replay}: no such folder")
        return Replay(replay)
    return Recording(record) if record else Live()


def canonical(model_id: str, request: WireRequest) -> dict[str, Any]:
    """A request as JSON without anything that differs between two equal runs, such as times."""
    messages = [message.model_dump(mode="json", include=_MESSAGE_FIELDS) for message in request.messages]
    return {
        "model": model_id,
        "messages": [{k: v for k, v in message.items() if v is not None} for message in messages],
        "tools": _digest([asdict(tool) for tool in request.tools]),
        "schema": request.schema,
        "temperature": request.temperature,
        "seed": request.seed,
    }


def _as_line(line: Mapping[str, Any]) -> bytes:
    """Text that no encoding can carry is replaced sign by sign: a plain run survives it too."""
    return (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _digest(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _path(folder: Path, site: CallSite) -> Path:
    return folder / site.scope / f"{site.session_id}.jsonl"


def _what_is_missing(site: CallSite, body: dict[str, Any], occurrence: int, recorded: list[_Line]) -> str:
    where = f"{site.role} call of session {site.session_id} is not in the store"
    if not recorded:
        return f"{where}, which holds no {site.role} call for {site.scope}/{site.session_id}"
    wanted = _lines_of(body)
    bodies = [line.request for line in recorded]
    if any(other == body for other in bodies):
        return f"{where}: the same request was recorded {occurrence} times only"
    nearest = max(bodies, key=lambda other: _likeness(wanted, _lines_of(other)))
    difference = difflib.unified_diff(_lines_of(nearest), wanted, "recorded", "asked", lineterm="", n=1)
    shown = "\n".join(line[:200] for line in list(difference)[:40])
    return f"{where}; the nearest recorded one differs:\n{shown}"


def _lines_of(body: Mapping[str, Any]) -> list[str]:
    return json.dumps(body, ensure_ascii=False, indent=1, sort_keys=True).splitlines()


def _likeness(one: list[str], other: list[str]) -> int:
    return sum((Counter(one) & Counter(other)).values())
