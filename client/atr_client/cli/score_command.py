"""The `score` command."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from atr_client.cli.failures import reported_errors
from atr_client.errors import ConfigError
from atr_client.outputs.fitting import print_line
from atr_client.outputs.layout import CellFolder, CellKey, summary_path, utc_stamp
from atr_client.outputs.manifest import read_manifest
from atr_client.outputs.provenance import episode_sha256
from atr_client.outputs.result_tables import print_results
from atr_client.outputs.scoring import Source, score_folder
from atr_data import DataError, Episode, load_episode, named_episode, packaged_episodes_dir
from atr_data.files import write_atomic
from atr_data.shuffle import reordered
from atr_evaluator import CellIdentity, CellScore, exit_code, score_row, summary


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """What the command line asked for. `episode` and `variant` serve cells that do not tell them."""

    folders: Sequence[Path]
    source: Source
    episode: str | None
    variant: str | None
    strict: bool
    trace_footers: bool


def score_command(request: ScoreRequest) -> int:
    """Scores every cell at or below the folders and prints the results. Returns the exit code."""
    with reported_errors():
        cells = list(dict.fromkeys(cell for folder in request.folders for cell in find_cells(folder)))
        rows = [_score(CellFolder(path), request) for path in cells]
        root = _outputs_root(cells)
        print_results(Console(), rows, root)
        if root:
            path = summary_path(root, "evaluator", stamp := utc_stamp())
            path.parent.mkdir(exist_ok=True)
            arguments = {"folders": [str(f) for f in request.folders], "source": request.source}
            document = summary(rows, timestamp=stamp, mode="score", args=arguments)
            write_atomic(path, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
            click.echo(f"summary: {path}")
        for row in rows:
            if row["incomplete"]:
                missing = row["missing_learning_sessions"] + row["missing_test_sessions"]
                print_line(Console(), f"incomplete: {row['cell_id']}: {', '.join(missing)}", indent="    ")
        return exit_code(rows, strict=request.strict)


def find_cells(folder: Path) -> Iterator[Path]:
    """The folder itself when it is a cell, else the cells below it. Raises ConfigError when there is none."""
    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder")
    if _is_cell(folder):
        yield folder
        return
    found = sorted({path.parent for path in folder.rglob("trajectories")} - {folder})
    if not found:
        raise ConfigError(f"{folder}: there is no cell here, and none below")
    yield from found


def _is_cell(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("trajectories", "cell_manifest.json", "calls.jsonl"))


def _score(folder: CellFolder, request: ScoreRequest) -> dict[str, Any]:
    started = time.monotonic()
    manifest = read_manifest(folder.manifest) or {}
    episode_path = named_episode(request.episode) if request.episode else _episode_path(manifest)
    try:
        episode = _load(episode_path, folder, manifest)
        outcome: CellScore | str = score_folder(
            folder,
            episode,
            variant=request.variant,
            source=request.source,
            trace_footers=request.trace_footers,
        )
    except DataError as error:
        outcome = str(error)
    identity = CellIdentity(
        cell_id=_cell_id(folder, manifest),
        episode_path=str(episode_path),
        variant=manifest.get("variant", request.variant),
        model=manifest.get("model"),
        memory_layer=manifest.get("memory_layer"),
        seed=manifest.get("seed"),
        runs_dir=str(folder.path),
    )
    row = score_row(identity, outcome, duration_sec=time.monotonic() - started)
    return {**row, "privileged": manifest.get("privileged", False)}


def _load(path: Path | None, folder: CellFolder, manifest: Mapping[str, Any]) -> Episode:
    if path is None:
        raise DataError("no manifest names the episode; give it with --episode FILE", path=folder.path)
    episode = load_episode(path)
    if manifest.get("episode_sha256") not in (None, episode_sha256(episode)):
        click.echo(f"warning: {path} has changed since {folder.path} was run", err=True)
    return reordered(episode, manifest.get("shuffle_references"))


def _episode_path(manifest: Mapping[str, Any]) -> Path | None:
    """The file the cell was run with, else the packaged episode of that id."""
    if (recorded := manifest.get("episode_path")) and Path(recorded).is_file():
        return Path(recorded)
    if episode_id := manifest.get("episode_id"):
        packaged = packaged_episodes_dir() / f"{episode_id}.json"
        return packaged if packaged.is_file() else None
    return None


def _cell_id(folder: CellFolder, manifest: Mapping[str, Any]) -> str:
    key = _key(manifest)
    return key.cell_id if key else folder.path.name


def _key(manifest: Mapping[str, Any]) -> CellKey | None:
    names = {
        "persona_id": "persona_id",
        "episode_id": "episode_id",
        "variant": "variant",
        "model": "model",
        "layer": "memory_layer",
        "seed": "seed",
        "hook": "hook_enabled",
        "smoke": "smoke",
    }
    try:
        return CellKey(**{ours: manifest[theirs] for ours, theirs in names.items()})
    except (KeyError, ConfigError):
        return None


def _outputs_root(cells: Sequence[Path]) -> Path | None:
    """The outputs folder of the first cell, when it stands where its manifest says."""
    folder = cells[0].resolve()
    key = _key(read_manifest(CellFolder(folder).manifest) or {})
    if key and folder.parts[-3:] == key.relative_path.parts:
        return folder.parents[2]
    return None
