"""The store of all memories: append-only entries by namespace, and frozen snapshots of them."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from atr_data.reading import StrPath, path_problem

_LOCK_TIMEOUT_SECONDS = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    namespace TEXT NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    session_id TEXT,
    PRIMARY KEY (namespace, position),
    UNIQUE (namespace, session_id)
);
CREATE TABLE IF NOT EXISTS snapshots (
    snapshot_id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    entries TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS learned (
    key TEXT PRIMARY KEY,
    text TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS blobs (
    sha256 TEXT PRIMARY KEY,
    content BLOB NOT NULL
);
"""


class StoreError(Exception):
    """A request that the store cannot grant; says in one line why, and what would be right."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A remembered session, rendered, or a prior statement of the user, verbatim."""

    kind: Literal["session", "prior"]
    text: str
    session_id: str | None = None


class MemoryStore:
    """Memories in an SQLite file, or in the process for `:memory:`.

    Every method is one transaction; threads may share a store and processes a file. Raises StoreError when
    the file cannot be opened, is no store, or stays locked by another process for `lock_seconds`.
    """

    def __init__(self, path: StrPath = ":memory:", *, lock_seconds: float = _LOCK_TIMEOUT_SECONDS) -> None:
        if problem := path_problem(path):
            raise StoreError(f"cannot open the memory store: {problem}")
        self._path, self._lock_seconds = os.fspath(path), lock_seconds
        self._lock = threading.Lock()
        if self._path != ":memory:" and os.path.lexists(path) and not Path(path).is_file():
            raise StoreError(f"{self._path}: not a memory store: it is no regular file")
        try:
            self._connection = sqlite3.connect(
                self._path, timeout=lock_seconds, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot open the memory store: {error}") from error
        try:
            self._connection.executescript(_SCHEMA)
        except sqlite3.Error as error:
            self._connection.close()
            raise self._failure(error, "not a memory store") from error

    @property
    def folder(self) -> Path | None:
        """Where the store's file lies; None for one that is in the process."""
        return None if self._path == ":memory:" else Path(self._path).parent

    def append_session(self, namespace: str, session_id: str, text: str) -> bool:
        """Appends a session's text. Returns False when it is there already.

        Raises StoreError when another text is stored for that session.
        """
        with self._transaction() as connection:
            stored = connection.execute(
                "SELECT text FROM entries WHERE namespace = ? AND session_id = ?", (namespace, session_id)
            ).fetchone()
            if stored is None:
                _append(connection, namespace, Entry("session", text, session_id))
                return True
        if stored != (text,):
            raise StoreError(
                f"session {session_id!r} is stored in namespace {namespace!r} with another text; "
                "reset the namespace to rebuild it"
            )
        return False

    def append_prior_statement(self, namespace: str, statement: str) -> None:
        with self._transaction() as connection:
            _append(connection, namespace, Entry("prior", statement))

    def entries(self, namespace: str) -> tuple[Entry, ...]:
        """In the order in which they were appended."""
        with self._transaction() as connection:
            return _entries(connection, namespace)

    def all_entries(self) -> tuple[Entry, ...]:
        """Those of all namespaces, one namespace after the other."""
        with self._transaction() as connection:
            names = connection.execute("SELECT DISTINCT namespace FROM entries ORDER BY namespace").fetchall()
            return tuple(entry for (name,) in names for entry in _entries(connection, name))

    def reset(self, namespace: str) -> int:
        """Forgets the entries of a namespace and returns their number. Its snapshots stay."""
        with self._transaction() as connection:
            return connection.execute("DELETE FROM entries WHERE namespace = ?", (namespace,)).rowcount

    def forget_entries(self) -> None:
        """Forgets the entries of all namespaces, to append them anew; all else stays."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM entries")

    def freeze(self, namespace: str) -> str:
        """The id of an immutable snapshot of the namespace as it is now; the same content has the same id."""
        with self._transaction() as connection:
            content = json.dumps([astuple(entry) for entry in _entries(connection, namespace)])
            snapshot_id = _snapshot_id(namespace, content)
            connection.execute(
                "INSERT OR IGNORE INTO snapshots VALUES (?, ?, ?)", (snapshot_id, namespace, content)
            )
        return snapshot_id

    def snapshot(self, namespace: str, snapshot_id: str) -> tuple[Entry, ...]:
        """The entries of a snapshot. Raises StoreError when the namespace has no such snapshot, or when its
        content is not what was frozen under that id."""
        with self._transaction() as connection:
            row = connection.execute(
                "SELECT entries FROM snapshots WHERE snapshot_id = ? AND namespace = ?",
                (snapshot_id, namespace),
            ).fetchone()
        if row is None:
            raise StoreError(f"namespace {namespace!r} has no snapshot {snapshot_id!r}; `freeze` makes one")
        if _snapshot_id(namespace, row[0]) != snapshot_id:
            raise StoreError(
                f"{self._path}: snapshot {snapshot_id!r} of namespace {namespace!r} is damaged: its content "
                "is not what was frozen; reset the namespace and freeze it anew"
            )
        return tuple(Entry(*fields) for fields in json.loads(row[0]))

    def learned(self, key: str) -> str | None:
        """What was learned under a key; None when nothing was."""
        with self._transaction() as connection:
            row = connection.execute("SELECT text FROM learned WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def put_learned(self, key: str, text: str) -> None:
        """What was learned under the key before is replaced."""
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO learned VALUES (?, ?)", (key, text))

    def put_blobs(self, contents: Iterable[bytes]) -> None:
        """Keeps the contents of files, each under its SHA-256."""
        with self._transaction() as connection:
            for content in contents:
                connection.execute(
                    "INSERT OR IGNORE INTO blobs VALUES (?, ?)",
                    (hashlib.sha256(content).hexdigest(), content),
                )

    def blob(self, sha256: str) -> bytes:
        """Raises StoreError when there is no such content, or it is not what was put in."""
        with self._transaction() as connection:
            row = connection.execute("SELECT content FROM blobs WHERE sha256 = ?", (sha256,)).fetchone()
        if row is None or hashlib.sha256(row[0]).hexdigest() != sha256:
            what = "is not there" if row is None else "is damaged"
            raise StoreError(f"{self._path}: the content {sha256[:12]} of a remembered file {what}")
        return row[0]

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        try:
            with self._lock, self._connection as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
        except UnicodeEncodeError as error:
            raise StoreError("text with a lone surrogate is no valid Unicode and is not stored") from error
        except sqlite3.Error as error:
            raise self._failure(error, "the memory store failed") from error

    def _failure(self, error: sqlite3.Error, what: str) -> StoreError:
        if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            what = f"another process has locked the memory store for {self._lock_seconds:g} seconds"
        return StoreError(f"{self._path}: {what}: {error}")


def _snapshot_id(namespace: str, content: str) -> str:
    return hashlib.sha256(json.dumps([namespace, content]).encode()).hexdigest()[:32]


def _append(connection: sqlite3.Connection, namespace: str, entry: Entry) -> None:
    connection.execute(
        "INSERT INTO entries SELECT ?, COALESCE(MAX(position), 0) + 1, ?, ?, ? "
        "FROM entries WHERE namespace = ?",
        (namespace, *astuple(entry), namespace),
    )


def _entries(connection: sqlite3.Connection, namespace: str) -> tuple[Entry, ...]:
    rows: Sequence[tuple[Literal["session", "prior"], str, str | None]] = connection.execute(
        "SELECT kind, text, session_id FROM entries WHERE namespace = ? ORDER BY position", (namespace,)
    ).fetchall()
    return tuple(Entry(*row) for row in rows)
