"""One namespace of a store, as one server shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from atr_data.trajectory import Message
from atr_memory.layers import MemoryLayer
from atr_memory.store import MemoryStore, StoreError
from atr_memory.transcript import render_transcript


@dataclass(slots=True)
class MemoryView:
    """Live, until a snapshot is opened; from then on it shows that snapshot and refuses every write.

    Raises StoreError for a write to a snapshot.
    """

    store: MemoryStore
    namespace: str
    layer: MemoryLayer
    _opened: str | None = field(default=None, init=False)

    def append_session(self, session_id: str, messages: Sequence[Message]) -> bool:
        """Renders a session and appends it. Returns False when it is there already or renders to nothing."""
        self._check_live()
        text = render_transcript(messages)
        return bool(text) and self.store.append_session(self.namespace, session_id, text)

    def append_prior_statement(self, statement: str) -> None:
        self._check_live()
        self.store.append_prior_statement(self.namespace, statement)

    def reset(self) -> int:
        self._check_live()
        return self.store.reset(self.namespace)

    def freeze(self) -> str:
        self._check_live()
        return self.store.freeze(self.namespace)

    def open_snapshot(self, snapshot_id: str) -> None:
        self.store.snapshot(self.namespace, snapshot_id)
        self._opened = snapshot_id

    def render(self) -> str | None:
        """What the layer makes of the entries, or None when there is nothing to remember."""
        if self._opened is None:
            return self.layer.render(self.store.entries(self.namespace))
        return self.layer.render(self.store.snapshot(self.namespace, self._opened))

    def _check_live(self) -> None:
        if self._opened is not None:
            raise StoreError(
                f"snapshot {self._opened} of namespace {self.namespace!r} is frozen: "
                "it can be read, not changed"
            )
