"""Where a run of the timing track puts its files: a folder per user, model, memory and window.

Names differ from those of episodes' cells, so that commands on episodes pass over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from atr_client.outputs.layout import CellFolder, check_file_name, model_name

TOP = "timing"


@dataclass(frozen=True, slots=True, order=True)
class TimingKey:
    """What makes one cell. `set_name` tells its set from all others. Raises ConfigError when a part cannot
    stand in a path."""

    set_name: str
    user_id: str
    model: str
    memory: str
    history_window_s: int
    observation: str = "text"
    layer: str | None = None
    smoke: bool = False

    def __post_init__(self) -> None:
        check_file_name("set name", self.set_name)
        check_file_name("model id", model_name(self.model))

    @property
    def cell_id(self) -> str:
        segment = [
            f"model-{model_name(self.model)}",
            f"memory-{self.memory}",
            f"window-{self.history_window_s}",
            *([f"layer-{self.layer}"] if self.layer else []),
            *(["screenshots"] if self.observation != "text" else []),
            *(["smoke"] if self.smoke else []),
        ]
        return str(PurePosixPath(TOP, self.set_name, self.user_id, "__".join(segment)))

    @property
    def condition(self) -> str:
        """Cells of one condition stand in one table."""
        parts = [self.set_name, f"memory {self.memory}", f"history window {self.history_window_s} s"]
        parts += [f"layer {self.layer}"] if self.layer else []
        parts += [self.observation] if self.observation != "text" else []
        return ", ".join([*parts, *(["smoke"] if self.smoke else [])])

    def folder(self, root: Path) -> TimingFolder:
        return TimingFolder(root / self.cell_id)


@dataclass(frozen=True, slots=True)
class TimingFolder(CellFolder):
    """The files of one cell: transcripts under `sittings`, decisions under `decisions`."""

    @property
    def manifest(self) -> Path:
        return self.path / "timing_manifest.json"

    @property
    def done(self) -> Path:
        return self.path / "_timing_done.json"

    @property
    def aborted(self) -> Path:
        return self.path / "_timing_aborted.json"

    @property
    def evaluation(self) -> Path:
        return self.path / "timing_eval.json"

    @property
    def calls(self) -> Path:
        return self.path / "timing_calls.jsonl"

    @property
    def trajectories(self) -> Path:
        return self.path / "sittings"

    def decisions(self, sitting_id: str) -> Path:
        return self.path / "decisions" / f"{sitting_id}.json"

    def create(self) -> None:
        CellFolder.create(self)
        (self.path / "decisions").mkdir(exist_ok=True)

    def remove_temporary_files(self) -> None:
        for stale in self.path.rglob("*.tmp"):
            stale.unlink()
