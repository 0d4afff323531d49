"""One process at a time writes to a cell, by a lock beside its files."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import filelock

from atr_client.errors import CellBusy
from atr_client.outputs.layout import CellFolder

PATIENCE = 0.5
"""Seconds in which a process that was killed just now lets go of a cell; one that only looks takes fewer."""


def is_busy(folder: CellFolder, *, patience: float = PATIENCE) -> bool:
    """Whether some process is writing to the cell right now, and goes on for so many seconds."""
    if not folder.path.is_dir():
        return False
    try:
        with filelock.FileLock(folder.lock, timeout=patience):
            return False
    except filelock.Timeout:
        return True


@contextmanager
def only_writer(folder: CellFolder) -> Generator[None]:
    """Raises CellBusy when another process writes to the cell."""
    folder.create()
    try:
        with filelock.FileLock(folder.lock, timeout=PATIENCE):
            yield
    except filelock.Timeout as error:
        raise CellBusy(f"another process is writing to {folder.path}") from error
