"""Cells as they lie on disk, of whatever program: which there are, what each says of itself, its episode.

A path that a run wrote down is a hint and never the truth: a folder may have been moved or copied since.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler, field_validator

from atr_client.errors import ConfigError
from atr_client.outputs.layout import CellFolder, CellKey
from atr_client.outputs.manifest import read_manifest
from atr_client.outputs.provenance import episode_sha256
from atr_client.outputs.stores import is_address
from atr_data import DataError, Episode, load_episode, packaged_episodes_dir
from atr_data.load import is_plain_name
from atr_data.reading import path_problem
from atr_data.select import episode_files
from atr_data.shuffle import reordered

_OF_A_CELL = frozenset({"trajectories", "cell_manifest.json", "calls.jsonl"})
_OF_SESSIONS = frozenset({"trajectories", "traces"})


class CellRecord(BaseModel):
    """What a manifest says of its cell. A field of a wrong kind counts as not said."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    persona_id: str | None = None
    episode_id: str | None = None
    episode_path: str | None = None
    episode_sha256: str | None = None
    shuffle_references: int | None = None
    variant: str | None = None
    model: str | None = None
    memory_layer: str | None = None
    memory: dict[str, Any] | None = None
    memory_snapshot: str | None = None
    seed: int | None = None
    hook_enabled: bool | None = None
    smoke: bool | None = None
    trial: int | None = None
    privileged: bool | None = None
    code_hash: str | None = None
    stale_fields: list[str] | None = None

    @field_validator("*", mode="wrap")
    @classmethod
    def _unsaid(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            return None

    @classmethod
    def of(cls, folder: CellFolder) -> CellRecord:
        return cls.model_validate(read_manifest(folder.manifest) or {})

    @cached_property
    def key(self) -> CellKey | None:
        """None when the record does not tell enough to make one."""
        if self.persona_id is None or self.episode_id is None or self.variant is None or self.model is None:
            return None
        hook, smoke = bool(self.hook_enabled), bool(self.smoke)
        try:
            return CellKey(
                self.persona_id,
                self.episode_id,
                self.variant,
                self.model,
                self.memory_layer,
                self.seed,
                hook,
                smoke,
                self.trial or 1,
            )
        except ConfigError:
            return None


@dataclass(frozen=True, slots=True)
class Told:
    """What the manifest of a cell says: all of it, and what is made of that."""

    manifest: Mapping[str, Any]
    record: CellRecord

    @classmethod
    def of(cls, folder: CellFolder) -> Self:
        manifest = read_manifest(folder.manifest) or {}
        return cls(manifest, CellRecord.model_validate(manifest))


def find_cells(folder: Path) -> Iterator[Path]:
    """The folder itself when it is a cell, else the cells below it. Raises ConfigError when there is none."""
    if problem := path_problem(folder):
        raise ConfigError(problem)
    if not folder.is_dir():
        hint = "; atr-client fetch brings a store's cells into a folder" if is_address(str(folder)) else ""
        raise ConfigError(f"{folder}: no such folder{hint}")
    if any((folder / name).exists() for name in _OF_A_CELL):
        yield folder
        return
    found = sorted(Path(place) for place in _cells_below(folder))
    if not found:
        raise ConfigError(f"{folder}: there is no cell here, and none below")
    yield from found


def _cells_below(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        if not _OF_A_CELL.isdisjoint((*folders, *files)):
            yield place
        folders[:] = [name for name in folders if name not in _OF_SESSIONS]


def all_cells(folders: Sequence[Path]) -> list[CellFolder]:
    """The cells at or below some folders, each once however it is spelled. Raises ConfigError."""
    found: dict[Path, CellFolder] = {}
    for folder in folders:
        for path in find_cells(folder):
            found.setdefault(path.resolve(), CellFolder(path))
    return list(found.values())


def outputs_root_of(folder: CellFolder) -> Path | None:
    """The outputs folder that a cell stands in, when it stands where its manifest says."""
    place = folder.path.resolve()
    key = CellRecord.of(folder).key
    if key and place.parts[-3:] == key.relative_path.parts:
        return place.parents[2]
    return None


@dataclass(frozen=True, slots=True)
class FoundEpisode:
    """`changed`: the file is not what it was when the cell was run. `path` is where it was found."""

    episode: Episode
    path: Path
    changed: bool


class EpisodeShelf:
    """Episodes with their digests, each read once while its file stays as it is; the last few are kept."""

    _KEPT = 4

    def __init__(self) -> None:
        self._read: dict[tuple[str, int, int], tuple[Episode, str]] = {}

    def load(self, path: Path) -> tuple[Episode, str]:
        """Raises DataError as load_episode does."""
        try:
            status = path.stat()
        except OSError:
            return self._load(path)
        key = (str(path), status.st_mtime_ns, status.st_size)
        if key not in self._read:
            self._read = dict(list(self._read.items())[1 - self._KEPT :])
            self._read[key] = self._load(path)
        return self._read[key]

    def _load(self, path: Path) -> tuple[Episode, str]:
        episode = load_episode(path)
        return episode, episode_sha256(episode)


def episode_of(
    folder: CellFolder,
    record: CellRecord,
    *,
    given: Path | None = None,
    below: Path | None = None,
    shelf: EpisodeShelf | None = None,
) -> FoundEpisode:
    """The episode that a cell was run with, its objects in the order of that run.

    It is looked for in the file that is given, in the folder `below`, where the manifest says it was, and
    among those that ship with the package; the first one with the recorded content is taken, else the first
    of all. Raises DataError when there is none, when the only one cannot be used, or when `given` is another
    episode than the cell's.
    """
    found: list[FoundEpisode] = []
    problem: DataError | None = None
    shelf = shelf or EpisodeShelf()
    for place in [given] if given else _places(record, below):
        try:
            episode, digest = shelf.load(place)
        except DataError as error:
            problem = problem or error
            continue
        changed = record.episode_sha256 not in (None, digest)
        found.append(FoundEpisode(reordered(episode, record.shuffle_references), place, changed))
        if not changed:
            break
    if not found:
        name = f"episode {record.episode_id}" if record.episode_id else "the episode"
        raise problem or DataError(
            f"{name} of this cell is not found; give it with --episode FILE or --episodes DIR",
            path=folder.path,
        )
    best = next((one for one in found if not one.changed), found[0])
    if record.episode_id not in (None, best.episode.episode_id):
        raise DataError(
            f"holds episode {best.episode.episode_id}, the cell is of {record.episode_id}", path=best.path
        )
    return best


def _places(record: CellRecord, below: Path | None) -> Iterator[Path]:
    name = record.episode_id
    if below is not None and name in (known := episode_files(below)):
        yield known[name]
    if record.episode_path and not path_problem(record.episode_path):
        recorded = Path(record.episode_path)
        if recorded.is_file():
            yield recorded
    if name and is_plain_name(name):
        packaged = packaged_episodes_dir() / f"{name}.json"
        if packaged.is_file():
            yield packaged
