"""The memory of a cell on disk: its store, what its server says of itself, its snapshot."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from atr_client.cell.definition import Cell
from atr_client.errors import CellAbort, ManifestMismatch
from atr_client.outputs.manifest import ManifestFile
from atr_client.session.layers import named_layer
from atr_memory import MemoryFault, MemoryLayer, MemoryStore, StoreError


def layer_of_cell(cell: Cell) -> MemoryLayer:
    return cell.memory or named_layer(cell.key.layer or "context")


@contextmanager
def store_of_cell(cell: Cell, layer: MemoryLayer) -> Generator[MemoryStore]:
    """In the process where everything can be made anew from the trajectories, else in a file. Entries are
    appended anew in any case. Raises CellAbort when the file cannot be used."""
    try:
        with MemoryStore(":memory:" if layer.follows else cell.folder.memory) as store:
            store.forget_entries()
            yield store
    except StoreError as error:
        raise CellAbort("memory", _first_session(cell), f"{error}; --fresh starts the cell over") from error


async def check_server(cell: Cell, layer: MemoryLayer, file: ManifestFile) -> None:
    """Notes what a memory that others made says of itself. Raises ManifestMismatch when it is another one
    than in an earlier run of the cell, CellAbort when it cannot be reached."""
    try:
        now = dict(await layer.identify())
    except (MemoryFault, StoreError) as error:
        raise CellAbort("memory", _first_session(cell), str(error)) from error
    was = file.manifest.memory_server
    changes: dict[str, object] = {"memory_server": now}
    if was and was != now:
        if not cell.options.allow_stale_resume:
            different = sorted(name for name in {*was, *now} if was.get(name) != now.get(name))
            told = "; ".join(f"{name} was {was.get(name)}, is {now.get(name)}" for name in different)
            raise ManifestMismatch(
                f"the cell was made with another memory server: {told}", ("memory_server",)
            )
        changes["stale_fields"] = sorted({*file.manifest.stale_fields, "memory_server"})
    if was != now:
        file.put(file.manifest.model_copy(update=changes))


def note_snapshot(file: ManifestFile, snapshot_id: str) -> None:
    if file.manifest.memory_snapshot != snapshot_id:
        file.put(file.manifest.model_copy(update={"memory_snapshot": snapshot_id}))


def _first_session(cell: Cell) -> str:
    return cell.sessions[0].session_id
