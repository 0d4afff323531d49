"""What the memory of a cell kept, session by session, and which hidden rules stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atr_client.outputs.contexts import left_by
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.spending import on_disk
from atr_client.outputs.stored_cells import CellRecord
from atr_client.session.layers import recorded_layer
from atr_client.session.readability import folded
from atr_data import DataError, Episode
from atr_memory import Entry, MemoryStore, StoreError
from atr_memory.file_tree import texts_of

_FILES = ("home", "external")


@dataclass(frozen=True, slots=True)
class KeptSession:
    """`text` is what was kept of it (of files: what is legible in them after it), `rules` those whose answer
    stands in all that was kept up to it."""

    session_id: str
    text: str
    rules: Sequence[str]


@dataclass(frozen=True, slots=True)
class KeptMemory:
    """`snapshot` is the content hash that the run recorded."""

    layer: str
    snapshot: str | None
    sessions: Sequence[KeptSession]

    @property
    def rules(self) -> Sequence[str]:
        return self.sessions[-1].rules if self.sessions else ()


def kept_memory(folder: CellFolder, episode: Episode) -> KeptMemory:
    """Read from the cell's store where it has one, else made anew from its learning sessions. Raises
    DataError when there is neither."""
    record = CellRecord.of(folder)
    kind = str((record.memory or {}).get("kind", record.memory_layer))
    is_cumulative = kind in ("rewrite", "class", *_FILES)
    texts = _stored(folder, kind) if folder.memory.exists() else _made(folder, episode, record)
    kept: list[KeptSession] = []
    so_far = ""
    for session_id, text in texts:
        so_far = text if is_cumulative else f"{so_far}\n{text}"
        known = f" {folded(so_far)} "
        rules = [r.rule_id for r in episode.rules if f" {folded(r.canonical_answer)} " in known]
        kept.append(KeptSession(session_id, text, rules))
    return KeptMemory(record.memory_layer or "context", record.memory_snapshot, kept)


def _stored(folder: CellFolder, kind: str) -> list[tuple[str, str]]:
    try:
        with MemoryStore(folder.memory) as store:
            entries = [entry for entry in store.all_entries() if entry.kind == "session"]
            return [(e.session_id or "", _legible(e.text, kind, store)) for e in entries]
    except StoreError as error:
        raise DataError(str(error), path=folder.memory) from error


def _legible(text: str, kind: str, store: MemoryStore) -> str:
    return texts_of(text, store) if kind in _FILES and text.startswith("[") else text


def _made(folder: CellFolder, episode: Episode, record: CellRecord) -> list[tuple[str, str]]:
    layer = recorded_layer(record.memory_layer, record.memory)
    if layer is None:
        raise DataError(
            f"the memory of layer {record.memory_layer!r} cannot be made from transcripts, and its store is "
            "not there",
            path=folder.path,
        )
    learned = {t.session_id: t for t in on_disk([folder]) if t.session_type == "learning"}
    entries: list[Entry] = []
    for session in episode.ordered_learning_sessions():
        if session.session_id in learned:
            entries += left_by(layer, entries, learned[session.session_id])
    return [(entry.session_id or "", entry.text) for entry in entries]
