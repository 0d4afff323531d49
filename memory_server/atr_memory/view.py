"""One namespace of a store, as one server shows it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from atr_data.usage import Usage
from atr_memory.layer import (
    FinishedSession,
    Kept,
    Learned,
    MemoryLayer,
    Offer,
    entries_digest,
    seen_digest,
)
from atr_memory.store import Entry, MemoryStore, StoreError


@dataclass(slots=True)
class MemoryView:
    """Live, until a snapshot is opened; from then on it shows that snapshot and refuses every write.

    Raises StoreError for a write to a snapshot, and MemoryFault when the layer fails.
    """

    store: MemoryStore
    namespace: str
    layer: MemoryLayer
    _opened: str | None = field(default=None, init=False)
    _frozen: tuple[Entry, ...] = field(default=(), init=False)

    @property
    def kept(self) -> Kept:
        return Kept(self.entries(), self.store, frozen=self._opened is not None)

    def entries(self) -> tuple[Entry, ...]:
        return self._frozen if self._opened else self.store.entries(self.namespace)

    async def append_session(self, session: FinishedSession) -> bool:
        """Appends what the layer keeps of a session. Returns False when it is there already or that is
        nothing."""
        self._check_live()
        kept = self._kept_before(session.session_id)
        text = (await self._learn(kept, session, None)).text
        return bool(text) and self.store.append_session(self.namespace, session.session_id, text)

    async def keep(self, session: FinishedSession, offer: Offer | None) -> Usage | None:
        """Learns from a session that was just played, so that appending it finds what was learned. Returns
        what a model took for it."""
        self._check_live()
        if self.layer.follows:
            return None
        return (await self._learn(self._kept_before(session.session_id), session, offer)).usage

    def has_learned(self, session: FinishedSession) -> bool:
        """Whether the session can be appended without being played again."""
        if self.layer.relearns:
            return True
        kept = self._kept_before(session.session_id)
        return self.store.learned(self._key(kept, session)) is not None

    def append_prior_statement(self, statement: str) -> None:
        self._check_live()
        self.store.append_prior_statement(self.namespace, statement)

    def reset(self) -> int:
        self._check_live()
        return self.store.reset(self.namespace)

    async def freeze(self) -> str:
        self._check_live()
        if (elsewhere := await self.layer.freeze()) is not None:
            self.store.append_session(self.namespace, _ELSEWHERE, elsewhere)
        return self.store.freeze(self.namespace)

    def open_snapshot(self, snapshot_id: str) -> None:
        self._frozen = self.store.snapshot(self.namespace, snapshot_id)
        self._opened = snapshot_id

    def render(self, query: str = "") -> str | None:
        """What the layer shows of the entries, or None when there is nothing to remember."""
        return self.layer.render(self.entries(), query)

    def seen(self, query: str = "") -> str:
        """The digest of what a session can see."""
        return seen_digest(self.layer, self.entries(), query)

    def open(self) -> AbstractAsyncContextManager[Offer | None]:
        """What a session has of the memory beside its prompt."""
        return self.layer.open(self.kept)

    async def _learn(self, kept: Kept, session: FinishedSession, offer: Offer | None) -> Learned:
        """What was learned of the same session after the same memory is not learned again: it may have cost
        something, or have been in files that are gone."""
        if self.layer.follows:
            return await self.layer.learn(kept, session, offer)
        key = self._key(kept, session)
        known = self.store.learned(key)
        if known is not None and offer is None:
            return Learned(known)
        learned = await self.layer.learn(kept, session, offer)
        self.store.put_learned(key, learned.text)
        return learned

    def _key(self, kept: Kept, session: FinishedSession) -> str:
        messages = [message.model_dump(mode="json") for message in session.messages]
        about = [
            self.layer.name,
            dict(self.layer.settings),
            entries_digest(kept.entries),
            session.session_id,
            messages,
        ]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def _kept_before(self, session_id: str) -> Kept:
        return Kept(_before(self.entries(), session_id), self.store)

    def _check_live(self) -> None:
        if self._opened is not None:
            raise StoreError(
                f"snapshot {self._opened} of namespace {self.namespace!r} is frozen: "
                "it can be read, not changed"
            )


_ELSEWHERE = "@freeze"
"""Under which name stands what a memory that lives elsewhere answered when it was frozen."""


def _before(entries: Sequence[Entry], session_id: str) -> Sequence[Entry]:
    """The entries that were there before a session was appended; all of them when it was not."""
    for position, entry in enumerate(entries):
        if entry.session_id == session_id:
            return entries[:position]
    return entries
