"""A memory file that is locked, damaged or none."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from atr_memory import MemoryStore, StoreError


@pytest.mark.parametrize("when", ["opening", "writing", "reading"])
def test_a_locked_file_is_a_clear_error(tmp_path: Path, when: str) -> None:
    path = tmp_path / "memory.db"
    MemoryStore(path).close()
    with sqlite3.connect(path, isolation_level=None) as other:
        store = None if when == "opening" else MemoryStore(path, lock_seconds=0.05)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match=r"memory\.db: another process has locked the memory store for"):
            if store is None:
                MemoryStore(path, lock_seconds=0.05)
            elif when == "writing":
                store.append_prior_statement("n", "x")
            else:
                store.entries("n")
        other.execute("ROLLBACK")
        if store:
            store.append_prior_statement("n", "x")
            assert [entry.text for entry in store.entries("n")] == ["x"]
            store.close()
    other.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE snapshots SET entries = replace(entries, 'tea', 'gin')",
        "UPDATE snapshots SET entries = '[]'",
        "UPDATE snapshots SET entries = 'no json'",
        "UPDATE snapshots SET snapshot_id = '0', namespace = 'n'",
    ],
)
def test_a_snapshot_that_was_changed_is_not_opened(tmp_path: Path, change: str) -> None:
    path = tmp_path / "memory.db"
    with MemoryStore(path) as store:
        store.append_prior_statement("n", "tea")
        frozen = store.freeze("n")
        assert [entry.text for entry in store.snapshot("n", frozen)] == ["tea"]
    with sqlite3.connect(path) as other:
        other.execute(change)
    other.close()
    with MemoryStore(path) as store, pytest.raises(StoreError, match=r"is damaged|has no snapshot"):
        store.snapshot("n", frozen)
    with MemoryStore(path) as store, pytest.raises(StoreError):
        store.snapshot("n", "0")


@pytest.mark.parametrize("kind", ["folder", "pipe", "no folder", "text", "NUL"])
def test_what_can_be_no_memory_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "memory.db")
    if kind == "folder":
        Path(path).mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "no folder":
        path = str(tmp_path / "none" / "memory.db")
    elif kind == "text":
        Path(path).write_text("x" * 2000)
    else:
        path = "a\0b"
    with pytest.raises(StoreError):
        MemoryStore(path)
