"""A third party's MCP memory server, whose own tools are offered to the agent."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, cast
from urllib.parse import urlsplit

import anyio
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import Tool

from atr_memory.file_tree import digest_of, pack, size_of, texts_of, unpack
from atr_memory.layer import Answer, FinishedSession, Kept, Learned, MemoryFault, MemoryLayer, Offer
from atr_memory.layers.server_answers import broken, is_written, looks_like_writing
from atr_memory.served_tools import ServedTools, Target, served

FOLDER = "{folder}"
LIVE = "memory_live"
"""The folder, beside the store, of a server whose files are not copied."""

_LAST_WORDS = 800


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How a memory server is reached and frozen. `command` and `env` may hold `{folder}`, the absolute path
    of a folder that is the server's own; `copies` are the paths below it that hold the memory, None when it
    is not copied. `freeze_tool` is called when learning is over, and what it answers is given as `argument`
    to `open_tool` at the beginning of each test session. `patience` in seconds for each call."""

    command: Sequence[str] = ()
    url: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    copies: Sequence[str] | None = ("",)
    freeze_tool: str | None = None
    open_tool: str | None = None
    argument: str = "snapshot"
    patience: float = 30.0


class External(MemoryLayer):
    """Each session has a process of its own, on a copy of its own of the files that the sessions before have
    left. Where they cannot be copied there is one memory for all: a server that is frozen by a tool is had by
    one session after the other, each test beginning with the snapshot opened anew; one that is not frozen is
    marked as uncontrolled."""

    follows = False
    offers = True
    rewords = True

    def __init__(self, spec: ServerSpec, settings: Mapping[str, Any], *, name: str = "external") -> None:
        self.name = name
        self._spec, self._settings = spec, {**_recorded(settings), "control": self._control(spec)}
        self._one_at_a_time = anyio.Lock()
        self._one_session = anyio.Lock() if spec.freeze_tool else nullcontext()

    @property
    def settings(self) -> Mapping[str, Any]:
        return self._settings

    @property
    def relearns(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Files that were not kept are gone; what is not in files of ours cannot be lost by us."""
        return self._spec.copies is None

    @staticmethod
    def _control(spec: ServerSpec) -> Literal["copied", "by tool", "uncontrolled"]:
        """How test sessions are kept from teaching each other."""
        if spec.copies is not None:
            return "copied"
        return "by tool" if spec.freeze_tool else "uncontrolled"

    @asynccontextmanager
    async def open(self, kept: Kept) -> AsyncGenerator[Offer | None]:
        async with self._one_session, self._opened(kept) as offer:
            yield offer

    @asynccontextmanager
    async def _opened(self, kept: Kept) -> AsyncGenerator[Offer]:
        with self._folder(kept) as folder, tempfile.TemporaryFile("w+", errors="replace") as errors:
            options: dict[str, Any] = {"broken": broken, "last_words": lambda: _end_of(errors)}
            before = digest_of(folder) if folder else ""
            async with served(self._target(folder, errors), patience=self._spec.patience, **options) as tools:
                if self._spec.open_tool and kept.frozen:
                    await _granted(tools, self._spec.open_tool, {self._spec.argument: kept.last})
                yield ServerOffer(tools, folder, before, self._one_at_a_time)

    async def learn(self, kept: Kept, session: FinishedSession, offer: Offer | None) -> Learned:
        if self._spec.copies is None:
            return Learned("")
        if not isinstance(offer, ServerOffer) or offer.folder is None:
            raise MemoryFault(f"the files after {session.session_id} are gone; it has to be played again")
        packed = pack(offer.folder, kept.store, below=self._spec.copies)
        if lost := offer.lost_write(texts_of(packed, kept.store)):
            raise MemoryFault(f"a write was lost: {lost}")
        return Learned(packed)

    async def freeze(self) -> str | None:
        if not self._spec.freeze_tool:
            return None
        if self._spec.url is None:
            raise MemoryFault("a server that is started by a command is frozen by copying its files")
        async with served(self._spec.url, patience=self._spec.patience, broken=broken) as tools:
            named = await _granted(tools, self._spec.freeze_tool, {})
        if not named.strip():
            raise MemoryFault(f"{self._spec.freeze_tool} answered nothing by which a snapshot can be opened")
        return named

    async def identify(self) -> Mapping[str, Any]:
        """Descriptions of tools count: they change what an agent does."""
        with tempfile.TemporaryDirectory(prefix="memory-") as scratch, tempfile.TemporaryFile("w+") as errors:
            target = self._target(Path(scratch), errors)
            words = {"last_words": lambda: _end_of(errors)}
            async with served(target, patience=self._spec.patience, **words) as tools:
                return _identity(tools)

    def stored(self, kept: Kept) -> str | None:
        return texts_of(kept.last, kept.store) if self._spec.copies is not None else None

    def size(self, kept: Kept) -> int:
        return size_of(kept.last, kept.store) if self._spec.copies is not None else 0

    def findable(self, kept: Kept, queries: Sequence[str]) -> str | None:
        """What its tools would have answered is not asked: the server is not ours."""
        return None

    @contextmanager
    def _folder(self, kept: Kept) -> Generator[Path | None]:
        if self._spec.url is not None:
            yield None
        elif self._spec.copies is None:
            if kept.store.folder is None:
                raise MemoryFault("a memory that is not copied needs a cell on disk")
            live = kept.store.folder / LIVE
            live.mkdir(exist_ok=True)
            yield live.resolve()
        else:
            with tempfile.TemporaryDirectory(prefix="memory-", ignore_cleanup_errors=True) as folder:
                place = Path(folder).resolve()
                unpack(kept.last, kept.store, place)
                yield place

    def _target(self, folder: Path | None, errors: IO[str]) -> Target:
        if self._spec.url is not None:
            return self._spec.url
        program, *arguments = (part.replace(FOLDER, str(folder)) for part in self._spec.command)
        env = {name: value.replace(FOLDER, str(folder)) for name, value in self._spec.env.items()}
        parameters = StdioServerParameters(
            command=program, args=arguments, env={"HOME": str(folder), **env}, cwd=folder
        )
        return stdio_client(parameters, errlog=errors)  # pyright: ignore[reportArgumentType]


class ServerOffer:
    """The tools of one process, and the folder that is its own."""

    def __init__(self, inner: ServedTools, folder: Path | None, before: str, lock: anyio.Lock) -> None:
        self._inner, self._before, self._lock = inner, before, lock
        self._written: list[Mapping[str, Any]] = []
        self.folder = folder
        self._writing = {tool.name for tool in inner.tools if looks_like_writing(tool)}

    @property
    def tools(self) -> Sequence[Tool]:
        return self._inner.tools

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        async with self._lock:
            answer = await self._inner.call(name, arguments)
        if name in self._writing and not answer.is_error:
            self._written.append(arguments)
        return answer

    async def close(self) -> None:
        await self._inner.close()

    async def writes(self) -> int:
        return len(self._written)

    def lost_write(self, kept: str) -> str | None:
        """What was written, and answered for, and is not in the files."""
        if self.folder is None or digest_of(self.folder) != self._before:
            return None
        return next((told for told in map(is_written(kept), self._written) if told), None)


async def _granted(tools: ServedTools, name: str, arguments: Mapping[str, Any]) -> str:
    answer = await tools.call(name, arguments)
    if answer.is_error:
        raise MemoryFault(f"{name} was refused: {answer.text}")
    return answer.text


def _recorded(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What may stand in a file: of variables, which may be secret, the digests; of an address, no more than
    where it leads."""
    known = {name: value for name, value in settings.items() if name != "probe"}
    env = cast(Mapping[str, str], known.get("env") or {})
    known["env"] = {name: hashlib.sha256(value.encode()).hexdigest()[:12] for name, value in env.items()}
    if known.get("url"):
        parts = urlsplit(str(known["url"]))
        known["url"] = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return known


def _identity(tools: ServedTools) -> Mapping[str, Any]:
    info = tools.client.server_info
    described = [
        [tool.name, tool.description, tool.input_schema]
        for tool in sorted(tools.tools, key=lambda tool: tool.name)
    ]
    return {
        "server": info.name if info else None,
        "version": info.version if info else None,
        "protocol": tools.client.protocol_version,
        "tools": len(tools.tools),
        "tools_sha256": hashlib.sha256(json.dumps(described).encode()).hexdigest(),
    }


def _end_of(errors: IO[str]) -> str:
    errors.flush()
    errors.seek(0)
    return errors.read()[-_LAST_WORDS:]
