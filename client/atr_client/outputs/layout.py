"""Where a run puts its files: one folder per cell, named by what makes the cell different from others."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from atr_client.errors import ConfigError
from atr_data.episode import Episode
from atr_data.variants import VARIANTS

DEFAULT_MODEL = "gpt-5.4"
ORACLE_FOLDER = "_oracle"
SUMMARY_FOLDER = "_summary"
_UNSAFE = re.compile(r"[/\\\x00-\x1f\x7f]")
_LONGEST_NAME = 200
_LONGEST_SEGMENT = 255


def model_name(model: str) -> str:
    """The id of a model as names of files and folders have it."""
    return model.replace("/", "-")


@dataclass(frozen=True, slots=True, order=True)
class CellKey:
    """What makes one cell: the same key gives the same folder in every command.

    `layer` is the memory layer and `seed` the composition seed of the episode; None when there is none.
    `trial` counts from 1; the first one's folder is that of a run without trials.
    Raises ConfigError when a part could lead out of the outputs folder or is no file name.
    """

    persona_id: str
    episode_id: str
    variant: str
    model: str = DEFAULT_MODEL
    layer: str | None = "context"
    seed: int | None = None
    hook: bool = False
    smoke: bool = False
    trial: int = 1

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise ConfigError(f"unknown variant {self.variant!r}; one of: {', '.join(VARIANTS)}")
        for what, name in (
            ("persona id", self.persona_id),
            ("episode id", self.episode_id),
            ("episode id", self.short_episode),
            ("model id", model_name(self.model)),
            ("memory layer", self.layer or "default"),
        ):
            check_file_name(what, name)
        if len((segment := self.relative_path.name).encode()) > _LONGEST_SEGMENT:
            raise ConfigError(
                f"the folder {segment[:60]}... of a cell gets longer than {_LONGEST_SEGMENT} bytes"
            )

    @classmethod
    def of(
        cls,
        episode: Episode,
        *,
        variant: str,
        model: str,
        layer: str | None,
        hook: bool,
        smoke: bool,
        trial: int = 1,
    ) -> CellKey:
        return cls(
            episode.persona_id, episode.episode_id, variant, model, layer, episode.seed, hook, smoke, trial
        )

    @property
    def short_episode(self) -> str:
        return self.episode_id.removeprefix(f"{self.persona_id}_")

    @property
    def relative_path(self) -> PurePosixPath:
        """The cell's folder below the outputs root. Oracle cells leave the episode out: see `seed`."""
        panel = ORACLE_FOLDER if VARIANTS[self.variant].is_oracle else self.short_episode
        segment = [
            self.variant,
            f"model-{model_name(self.model)}",
            f"layer-{self.layer or 'default'}",
            "noseed" if self.seed is None else f"seed{self.seed:03d}",
            *(["hook"] if self.hook else []),
            *([f"trial{self.trial}"] if self.trial > 1 else []),
            *(["smoke"] if self.smoke else []),
        ]
        return PurePosixPath(self.persona_id, panel, "__".join(segment))

    @property
    def cell_id(self) -> str:
        return str(self.relative_path)

    def folder(self, root: Path) -> CellFolder:
        return CellFolder(root / self.relative_path)


def check_file_name(what: str, name: str) -> None:
    """Raises ConfigError unless `name` can stand as one plain file or folder name."""
    if not name or name.startswith(".") or _UNSAFE.search(name) or len(name.encode()) > _LONGEST_NAME:
        raise ConfigError(f"{what} {name!r} cannot be part of a path: it must be a plain name")


@dataclass(frozen=True, slots=True)
class CellFolder:
    """The files of one cell."""

    path: Path

    @property
    def manifest(self) -> Path:
        return self.path / "cell_manifest.json"

    @property
    def done(self) -> Path:
        return self.path / "_cell_done.json"

    @property
    def aborted(self) -> Path:
        """The row of a cell whose last run broke off; it is gone as soon as the cell goes on."""
        return self.path / "_cell_aborted.json"

    @property
    def evaluation(self) -> Path:
        return self.path / "eval.json"

    @property
    def run_log(self) -> Path:
        return self.path / "run.log"

    @property
    def memory(self) -> Path:
        """The store of a memory that does not follow from the transcripts."""
        return self.path / "memory.sqlite"

    @property
    def calls(self) -> Path:
        return self.path / "calls.jsonl"

    @property
    def lock(self) -> Path:
        return self.path / ".lock"

    @property
    def trajectories(self) -> Path:
        return self.path / "trajectories"

    @property
    def traces(self) -> Path:
        return self.path / "traces"

    def trajectory(self, session_id: str) -> Path:
        return self.trajectories / f"{session_id}.json"

    def trace(self, session_id: str) -> Path:
        return self.traces / f"{session_id}.txt"

    def create(self) -> None:
        """Raises OSError as the file system does."""
        self.trajectories.mkdir(parents=True, exist_ok=True)

    def clear(self) -> None:
        """Removes everything but the lock, which the caller holds."""
        for entry in self.path.iterdir():
            if entry == self.lock:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        self.create()

    def remove_temporary_files(self) -> None:
        """What a killed writer left behind."""
        for folder in (self.path, self.trajectories, self.traces):
            for stale in folder.glob("*.tmp"):
                stale.unlink()


def utc_stamp(now: datetime | None = None) -> str:
    """`20260102T030405Z`, as it stands in summary names."""
    return (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")


def summary_path(root: Path, stage: str, stamp: str) -> Path:
    """A summary file that does not exist yet; a second one of the same second gets a number."""
    folder = root / SUMMARY_FOLDER
    path = folder / f"{stage}_{stamp}.json"
    number = 1
    while path.exists():
        number += 1
        path = folder / f"{stage}_{stamp}-{number}.json"
    return path
