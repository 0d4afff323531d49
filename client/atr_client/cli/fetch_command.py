"""The `fetch` command: the cells of a store as folders."""

from __future__ import annotations

from pathlib import Path

import click

from atr_client.cli.failures import reported_errors
from atr_client.errors import CellBusy, ConfigError
from atr_client.outputs.cell_archive import BEGUN, FINISHED, unpack
from atr_client.outputs.cell_lock import is_busy
from atr_client.outputs.layout import SUMMARY_FOLDER, CellFolder
from atr_client.outputs.stores import Store, place_of
from atr_evaluator import EXIT_INCOMPLETE, EXIT_OK

_ORIGIN = ".fetched"
"""Says in a folder which store's cells it holds, so that they may be replaced."""


def fetch_command(address: str, folder: Path) -> int:
    """Brings every cell, finished or begun, in place of what an earlier call brought. Returns 3 while cells
    are not finished."""
    with reported_errors():
        store = place_of(address)
        if not isinstance(store, Store):
            raise ConfigError(f"{address} is a folder: there is nothing to fetch")
        names = store.names()
        finished = {name.removesuffix(FINISHED) for name in names if _is_finished(name)}
        begun = {name.removesuffix(BEGUN) for name in names if name.endswith(BEGUN)} - finished
        if not finished | begun:
            raise ConfigError(f"{store.address}: there is no cell below it")
        _claim(folder, store)
        wanted = [*(cell + FINISHED for cell in sorted(finished)), *(cell + BEGUN for cell in sorted(begun))]
        for name, content in store.all_of(wanted):
            _replace(CellFolder(folder / name.removesuffix(BEGUN).removesuffix(FINISHED)), content, name)
        (folder / SUMMARY_FOLDER).mkdir(exist_ok=True)
        for name, content in store.all_of(name for name in names if name.startswith(f"{SUMMARY_FOLDER}/")):
            (folder / SUMMARY_FOLDER / Path(name).name).write_bytes(content)
    click.echo(f"{len(finished)} finished and {len(begun)} begun cells of {store.address} are in {folder}")
    return EXIT_INCOMPLETE if begun else EXIT_OK


def _is_finished(name: str) -> bool:
    return name.endswith(FINISHED) and not name.endswith(BEGUN)


def _claim(folder: Path, store: Store) -> None:
    """Raises ConfigError for a folder that holds anything else."""
    folder.mkdir(parents=True, exist_ok=True)
    origin = folder / _ORIGIN
    if origin.is_file():
        if (other := origin.read_text(encoding="utf-8").strip()) != store.address:
            raise ConfigError(f"{folder} holds the cells of {other}; name another folder")
    elif any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty, and was not fetched from a store; name another folder")
    else:
        origin.write_text(f"{store.address}\n", encoding="utf-8")


def _replace(cell: CellFolder, content: bytes, name: str) -> None:
    if cell.path.exists():
        if is_busy(cell):
            raise CellBusy(f"another process is writing to {cell.path}")
        cell.clear()
    unpack(content, cell.path, name)
