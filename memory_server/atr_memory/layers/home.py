"""The files that an agent keeps by itself: its home and its working folder."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.types import Tool

from atr_memory.file_tree import digest_of, pack, size_of, texts_of, unpack
from atr_memory.layer import Answer, FinishedSession, Kept, Learned, MemoryFault, MemoryLayer, Offer

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
    """Each session runs on a copy of the home and the working folder that the sessions before have left."""

    name = "home"
    follows = False
    relearns = False
    offers = True
    rewords = True

    @asynccontextmanager
    async def open(self, kept: Kept) -> AsyncGenerator[Offer | None]:
        with tempfile.TemporaryDirectory(prefix="agent-", ignore_cleanup_errors=True) as folder:
            place = Path(folder)
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
