"""Folders as they are kept in a store: a list of files, and their contents under their digests."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath

from atr_memory.store import MemoryStore, StoreError

Listed = tuple[str, str, str]
"""Path, kind (`file`, `program`, `link` or `folder`), and the SHA-256 of a file or the target of a link."""


def pack(
    folder: Path, store: MemoryStore, leave_out: Collection[str] = (), below: Sequence[str] = ("",)
) -> str:
    """Keeps the files below a folder and returns their list as text: equal folders give equal text.

    Links that lead out of the folder, sockets, what is at or below the paths to `leave_out` and what is not
    at or `below` one of some paths are not kept. Raises StoreError when a file cannot be read or kept.
    """
    try:
        listed = sorted(one for one in _listed(folder, leave_out) if _is_below(one[0], below))
        for path, kind, _ in listed:
            if kind in ("file", "program"):
                store.put_blobs([(folder / path).read_bytes()])
    except OSError as error:
        raise StoreError(f"{error.filename or folder}: cannot be read: {error.strerror}") from error
    return json.dumps(listed, ensure_ascii=False)


def unpack(packed: str, store: MemoryStore, folder: Path) -> None:
    """Writes a folder as it was packed; an empty text is an empty folder. Raises StoreError when a content
    is not what was packed, or cannot be written."""
    for path, kind, what in json.loads(packed or "[]"):
        target = folder / path
        try:
            if kind == "folder":
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if kind == "link":
                target.symlink_to(what)
                continue
            target.write_bytes(store.blob(what))
            if kind == "program":
                target.chmod(0o700)
        except OSError as error:
            raise StoreError(f"{target}: cannot be written: {error.strerror}") from error


def digest_of(folder: Path, leave_out: Collection[str] = ()) -> str:
    """SHA-256 of a folder's content. Raises OSError."""
    return hashlib.sha256(json.dumps(sorted(_listed(folder, leave_out))).encode()).hexdigest()


def texts_of(packed: str, store: MemoryStore) -> str:
    """What is legible in the files of a packed folder."""
    return "\n".join(content.decode("utf-8", "replace") for content in _contents(packed, store))


def size_of(packed: str, store: MemoryStore) -> int:
    """Bytes of all files of a packed folder."""
    return sum(map(len, _contents(packed, store)))


def _contents(packed: str, store: MemoryStore) -> Iterator[bytes]:
    for _, kind, what in json.loads(packed or "[]"):
        if kind in ("file", "program"):
            yield store.blob(what)


def _listed(folder: Path, leave_out: Collection[str] = ()) -> Iterator[Listed]:
    for place, folders, files in os.walk(folder):
        here = Path(place)
        for name in [*folders, *files]:
            path = here / name
            inside = path.relative_to(folder).as_posix()
            if inside in leave_out:
                folders[:] = [below for below in folders if below != name]
                continue
            if path.is_symlink():
                target = str(path.readlink())
                if _stays_inside(inside, target):
                    yield inside, "link", target
            elif path.is_file():
                mode = path.stat().st_mode
                kind = "program" if mode & stat.S_IXUSR else "file"
                yield inside, kind, hashlib.sha256(path.read_bytes()).hexdigest()
            elif path.is_dir() and not any(path.iterdir()):
                yield inside, "folder", ""


def _is_below(path: str, places: Sequence[str]) -> bool:
    return any(not place or path == place or path.startswith(f"{place}/") for place in places)


def _stays_inside(path: str, target: str) -> bool:
    depth = len(PurePosixPath(path).parts) - 1
    for part in PurePosixPath(target).parts:
        if part == "/":
            return False
        depth += -1 if part == ".." else 1
        if depth < 0:
            return False
    return True
