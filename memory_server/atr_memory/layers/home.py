"""The files that an agent keeps by itself: its home and its working folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.types import Tool

from atr_memory.file_tree import digest_of, pack, size_of, texts_of, unpack
from atr_memory.layer import Answer, FinishedSession, Kept, Learned, MemoryFault, MemoryLayer, Offer
from atr_memory.store import MemoryStore

HOME, WORK = "home", "work"


class FolderOffer:
    """A folder and no tools. `leave_out` are files that the harness put there and that are no memory."""

    tools: Sequence[Tool] = ()

    def __init__(self, folder: Path, before: str) -> None:
        self.folder: Path | None = folder
        self.leave_out: set[str] = set()
        self._before = before

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        raise MemoryFault(f"{name}: a folder has no tools")

    async def close(self) -> None: ...

    async def writes(self) -> int:
        """Whether anything in the folder has changed."""
        assert self.folder
        return int(digest_of(self.folder, self.leave_out) != self._before)


class Home(MemoryLayer):
    """Each session runs on a copy of the home and the working folder that the sessions before have left.

    The copy lies at the same path in each session of a cell, because agents file what they remember under the
    path of the folder that they work in. So the sessions of a cell run one after the other.
    """

    name = "home"
    follows = False
    relearns = False
    offers = True
    rewords = True

    def __init__(self) -> None:
        self._one_at_a_time: dict[Path, anyio.Lock] = {}

    @asynccontextmanager
    async def open(self, kept: Kept) -> AsyncGenerator[Offer | None]:
        place = _place_of(kept.store)
        async with self._one_at_a_time.setdefault(place, anyio.Lock()):
            with _emptied(place):
                unpack(kept.last, kept.store, place)
                for name in (HOME, WORK):
                    (place / name).mkdir(exist_ok=True)
                yield FolderOffer(place, digest_of(place))

    async def learn(self, kept: Kept, session: FinishedSession, offer: Offer | None) -> Learned:
        if not isinstance(offer, FolderOffer) or offer.folder is None:
            raise MemoryFault(f"the files that {session.session_id} left are gone; it has to be played again")
        return Learned(pack(offer.folder, kept.store, offer.leave_out))

    def stored(self, kept: Kept) -> str:
        return texts_of(kept.last, kept.store)

    def size(self, kept: Kept) -> int:
        return size_of(kept.last, kept.store)

    def findable(self, kept: Kept, queries: Sequence[str]) -> str | None:
        """Which of its files an agent reads cannot be told."""
        return None


def _place_of(store: MemoryStore) -> Path:
    """The same for every session on a store, also after another process goes on; nothing of where the
    store lies can be read from it."""
    cell = str(store.folder.resolve()) if store.folder else f"{os.getpid()} {id(store)}"
    return Path(tempfile.gettempdir()) / f"agent-{hashlib.sha256(cell.encode()).hexdigest()[:12]}"


@contextmanager
def _emptied(place: Path) -> Generator[None]:
    """A new folder there, for as long as the block runs. What a run that was killed has left is removed.
    Raises MemoryFault when something else is there."""
    try:
        if place.is_symlink() or (place.exists() and place.stat().st_uid != os.getuid()):
            raise MemoryFault(f"{place}: belongs to somebody else; the agent's files go there")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700)
    except OSError as error:
        raise MemoryFault(f"{place}: the agent's files cannot be put there: {error.strerror}") from error
    try:
        yield
    finally:
        shutil.rmtree(place, ignore_errors=True)
