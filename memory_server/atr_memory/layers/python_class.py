"""A memory written in Python by whoever brings it, named by its import path."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from typing import Any, Protocol, cast

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from atr_memory.layer import (
    Answer,
    FinishedSession,
    Kept,
    Learned,
    MemoryFault,
    MemoryLayer,
    Offer,
    beside_statements,
)
from atr_memory.layers.server_answers import broken
from atr_memory.served_tools import ServedTools, served
from atr_memory.store import Entry


class PythonMemory(Protocol):
    """What such a class looks like. It is made with `frozen`, the text that `freeze` gave (None at first),
    and with the options of the configuration; each session gets an instance of its own. It may have `tools`,
    functions with type annotations and a docstring, which the agent may call; and `update` may be a
    coroutine."""

    def __init__(self, frozen: str | None = None, **options: Any) -> None: ...

    def read(self, query: str) -> str | None:
        """The text for the prompt of a session; `query` is what it is about, "" where that is not known."""
        ...

    def update(self, session: FinishedSession) -> Any:
        """Learns from a session that has ended."""
        ...

    def freeze(self) -> str:
        """All that it holds, as text; an equal memory gives equal text."""
        ...


class ClassMemory(MemoryLayer):
    """What a session leaves is what `freeze` gives after it. Whatever the class raises is a fault of the
    memory."""

    follows = False
    rewords = True

    def __init__(self, path: str, options: Mapping[str, Any] | None = None, *, name: str | None = None):
        """Raises ValueError when there is no such class."""
        self._path, self._options = path, dict(options or {})
        self._class = _loaded(path)
        self.name = name or f"class-{path.rpartition(':')[2]}"
        self.offers = hasattr(self._class, "tools")
        self.relearns = not self.offers

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"kind": "class", "path": self._path, "options": self._options}

    def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
        with self._faults("read"):
            return beside_statements(self._made(entries).read(query), entries)

    @asynccontextmanager
    async def open(self, kept: Kept) -> AsyncGenerator[Offer | None]:
        if not self.offers:
            yield None
            return
        memory = self._made(kept.entries)
        with self._faults("tools"):
            server = _Silent("atr-class-memory", log_level="ERROR")
            for tool in _tools(memory):
                server.add_tool(tool)
            before = memory.freeze()
        async with served(server, broken=broken) as offer:
            yield _ClassOffer(offer, memory, before)

    async def learn(self, kept: Kept, session: FinishedSession, offer: Offer | None) -> Learned:
        memory = offer.memory if isinstance(offer, _ClassOffer) else self._made(kept.entries)
        with self._faults("update"):
            done = memory.update(session)
            if inspect.isawaitable(done):
                await done
        with self._faults("freeze"):
            frozen = memory.freeze()
        if not isinstance(frozen, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise MemoryFault(f"{self._path}: freeze gave {type(frozen).__name__}, and not a text")
        return Learned(frozen)

    def size(self, kept: Kept) -> int:
        """The latest text is all there is: those before it went into it."""
        return len(kept.last.encode("utf-8", "replace"))

    def stored(self, kept: Kept) -> str:
        return kept.last

    def _made(self, entries: Sequence[Entry]) -> PythonMemory:
        texts = [entry.text for entry in entries if entry.kind == "session"]
        with self._faults("__init__"):
            return self._class(texts[-1] if texts else None, **self._options)

    @contextmanager
    def _faults(self, method: str) -> Generator[None]:
        try:
            yield
        except Exception as error:
            raise MemoryFault(f"{self._path}: {method} raised {type(error).__name__}: {error}") from error


class _Silent(MCPServer):
    """Of an exception that a tool did not mean to raise nothing is told, as by any SDK from 2.1 on."""

    async def call_tool(self, name: str, *given: Any, **more: Any) -> Any:
        try:
            return await super().call_tool(name, *given, **more)
        except ToolError as error:
            if error.__cause__ is None or isinstance(error.__cause__, (ToolError, ValidationError)):
                raise
            raise ToolError(f"Error executing tool {name}") from error.__cause__


class _ClassOffer:
    def __init__(self, inner: ServedTools, memory: PythonMemory, before: str) -> None:
        self._inner, self.memory, self._before = inner, memory, before
        self.tools, self.folder = inner.tools, None

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        return await self._inner.call(name, arguments)

    async def close(self) -> None:
        await self._inner.close()

    async def writes(self) -> int:
        return int(self.memory.freeze() != self._before)


def _tools(memory: PythonMemory) -> Sequence[Callable[..., Any]]:
    offered: Any = cast(Any, memory).tools
    return cast(Sequence[Callable[..., Any]], offered() if callable(offered) else offered)


def _loaded(path: str) -> type[PythonMemory]:
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        raise ValueError(f"path: {path!r} is not of the form package.module:Class")
    try:
        found: Any = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"path: {path!r} cannot be imported: {error}") from error
    lacking = [method for method in ("read", "update", "freeze") if not hasattr(found, method)]
    if not isinstance(found, type) or lacking:
        raise ValueError(f"path: {path!r} is no memory class; it lacks {', '.join(lacking) or 'a type'}")
    return cast(type[PythonMemory], found)
