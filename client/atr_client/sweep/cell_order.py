"""A cell as a process that is no fork of the planning one can make it anew, on this machine or another."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from atr_client.agents import OFFLINE_MODELS
from atr_client.cell.definition import Cell
from atr_client.errors import CellError
from atr_client.outputs.layout import CellKey
from atr_client.outputs.manifest import Manifest, gate
from atr_client.outputs.stores import Store
from atr_client.sweep.commands import CommandPlayers
from atr_client.sweep.config import RunConfig
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.folders import episodes_folder, playing_root
from atr_client.sweep.plan import Overrides, plan_cells
from atr_client.sweep.selection import Selection
from atr_data.select import episode_files
from atr_user_sim.lines import lines_beside


@dataclass(frozen=True, slots=True)
class CellOrder:
    """`files` are the episodes that it takes, and the question lines beside its own, by name and compressed:
    the other machine need not have them. `place` is where it is kept, a folder that the other machine has
    under the same path, or a store. Keys of providers are in no order; they are the other machine's own."""

    config: RunConfig
    overrides: Overrides
    key: CellKey
    manifest: Manifest
    files: Mapping[str, bytes]
    place: Path | Store

    def cell(self, stack: ExitStack, clients: ModelClients, commands: CommandPlayers | None) -> Cell:
        """The cell, playable until the stack is closed.

        Raises CellError when this machine would play it in another way than was planned, and ConfigError and
        DataError as planning does.
        """
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="atr-episodes-")))
        for name, content in self.files.items():
            (folder / name).write_bytes(zlib.decompress(content))
        root = stack.enter_context(playing_root(self.place))
        own = str(folder / _own_file(self.manifest))
        episodes = self.config.episodes.model_copy(update={"select": [own]})
        (cell,) = plan_cells(
            self.config.model_copy(update={"episodes": episodes}),
            root,
            replace(self.overrides, episodes=folder),
            clients,
            commands,
            Selection(self.config, self.key),
            self.place if isinstance(self.place, Store) else None,
        )
        if unlike := gate(self.manifest.model_dump(mode="json"), cell.manifest, allow_stale=True):
            raise CellError(
                f"the worker would play the cell in another way than planned ({', '.join(unlike)}): it needs "
                "the same version of atrbench, and the same addresses in its environment"
            )
        manifest = cell.manifest.model_copy(update={"episode_path": self.manifest.episode_path})
        return replace(cell, manifest=manifest)


def order_of(cell: Cell, config: RunConfig, overrides: Overrides, place: Path | Store) -> CellOrder:
    """For a cell that was planned with this configuration and these overrides."""
    folder = episodes_folder(config, overrides.episodes)
    files = {path.name: zlib.compress(path.read_bytes()) for path in _files(cell, folder)}
    place = place.absolute() if isinstance(place, Path) else place
    return CellOrder(config, replace(overrides, outputs=None), cell.key, cell.manifest, files, place)


def _files(cell: Cell, folder: Path) -> Iterator[Path]:
    path = Path(cell.manifest.episode_path or "")
    yield path
    lines = lines_beside(path, cell.episode.persona_id)
    if lines.exists():
        yield lines
    model = OFFLINE_MODELS.get(cell.key.model)
    if model is not None and model.taught:
        inside = path.is_relative_to(folder.resolve())
        yield from _others(episode_files(folder if inside else path.parent), path)


def _others(files: Mapping[str, Path], own: Path) -> Sequence[Path]:
    return [path for path in files.values() if path.name != own.name]


def _own_file(manifest: Manifest) -> str:
    return Path(manifest.episode_path or "").name
