"""A cell in a store, where nothing can be locked, renamed or appended to: one object that is whole or not
there."""

from __future__ import annotations

import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from atr_client.errors import StoreFault
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.stores import Store

FINISHED, BEGUN = ".zip", ".begun.zip"
"""How the objects of cells end: of one that is finished, and of what another one has so far."""


@dataclass(frozen=True, slots=True)
class CellArchive:
    """`name` is the cell's id. Each object is one process's state of the whole cell at one moment: when two
    play the same cell, the last one's stays, and never a mixture. Raises StoreFault."""

    store: Store
    name: str

    def bring(self, folder: CellFolder) -> None:
        """Unpacks what there is of the cell, the finished one before one that has begun."""
        bring_all([(self, folder)])

    def keep(self, folder: CellFolder) -> None:
        """Puts what there is so far where another process can go on with it."""
        self.store.put(self.name + BEGUN, packed(folder))

    def commit(self, folder: CellFolder) -> None:
        """From now on the cell is finished."""
        self.store.put(self.name + FINISHED, packed(folder))
        self.store.remove(self.name + BEGUN)

    def clear(self) -> None:
        for ending in (FINISHED, BEGUN):
            self.store.remove(self.name + ending)


def bring_all(wanted: Sequence[tuple[CellArchive, CellFolder]]) -> None:
    """What `bring` does, for many cells of one store. Raises StoreFault."""
    for ending in (FINISHED, BEGUN):
        folders = {archive.name + ending: folder for archive, folder in wanted}
        if not folders:
            return
        store = wanted[0][0].store
        for name, content in store.all_of(folders):
            unpack(content, folders[name].path, store.at(name))
            wanted = [(archive, folder) for archive, folder in wanted if archive.name + ending != name]


def packed(folder: CellFolder) -> bytes:
    """The files of a cell, which may be written meanwhile: what a trajectory rests on (its calls, what the
    memory learned of it) is read after it, and so is there too."""
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files(folder):
            archive.writestr(path.relative_to(folder.path).as_posix(), _content(path, folder))
    return content.getvalue()


def unpack(content: bytes, folder: Path, where: str) -> None:
    """Raises StoreFault, which names `where` it came from, when it is no whole archive."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            archive.extractall(folder)
    except (zipfile.BadZipFile, ValueError, EOFError) as error:
        raise StoreFault(f"{where}: no whole archive of a cell ({error}); --fresh starts it over") from error


def _files(folder: CellFolder) -> Iterator[Path]:
    found = [path for path in folder.path.rglob("*") if path.is_file() and path != folder.lock]
    kept = [p for p in found if p.suffix != ".tmp" and not p.name.endswith(("-wal", "-shm", "-journal"))]
    yield from sorted(kept, key=lambda path: (path.parent != folder.trajectories, path))


def _content(path: Path, folder: CellFolder) -> bytes:
    if path != folder.memory:
        return path.read_bytes()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as memory:
        return memory.serialize()
