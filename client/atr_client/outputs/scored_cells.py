"""The cells of some folders with their scores, as tables and reports take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from atr_client.agents import RULE_BLIND_MODELS
from atr_client.errors import ConfigError
from atr_client.outputs.evaluations import read_evaluation
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.manifest import MANIFEST_VERSION, read_manifest
from atr_client.outputs.rows import aborted_row, made_calls
from atr_client.outputs.stored_cells import Told, all_cells, episode_of
from atr_client.outputs.user_line import UNKNOWN_USER, described_user
from atr_data import DataError
from atr_data.reading import read_json
from atr_evaluator import SCORER_VERSION, evaluate_cell
from atr_evaluator.aggregate.settings import ScoredCell, Setting

PRIVILEGED = "was shown the answers: a reference, not a contestant"
_ALIKE = ("code_hash", "max_steps", "timeout")
"""What the cells of one setting should share, and nothing keeps them apart by."""


@dataclass(frozen=True, slots=True)
class ScoredFolder:
    """`warnings` are what a reader of the figures should know, a line each."""

    cells: Sequence[ScoredCell]
    warnings: Sequence[str]


def scored_cells(folders: Sequence[Path], episodes: Path | None = None) -> ScoredFolder:
    """All cells at or below some folders. A cell whose score is missing, older than its sessions or made by
    another scorer is scored in memory, for which its episode is looked for in `episodes` too.

    Raises ConfigError when there is no cell, or when two folders hold the same one.
    """
    return checked([read_cell(folder, episodes) for folder in all_cells(folders)])


def checked(cells: Sequence[ScoredCell]) -> ScoredFolder:
    """The cells with what a reader should know of them together. Raises ConfigError when two are the same."""
    _refuse_twins(cells)
    return ScoredFolder(cells, [*_privileged(cells), *_mixtures(cells), *_unverified(cells)])


def read_cell(folder: CellFolder, episodes: Path | None = None) -> ScoredCell:
    """The cell as it lies on disk now."""
    told = Told.of(folder)
    document, problem = _score(folder, told, episodes)
    return scored_cell(folder, document, problem, told=told)


def scored_cell(
    folder: CellFolder,
    document: Mapping[str, Any] | None,
    problem: str | None = None,
    *,
    told: Told | None = None,
) -> ScoredCell:
    """A cell with the score that it has, in the setting that its manifest tells, which is read unless it is
    given."""
    told, row = told or Told.of(folder), _done(folder)
    record, manifest = told.record, told.manifest
    dataset = (document or {}).get("dataset") or "unknown"
    if record.shuffle_references is not None:
        dataset += f", shuffled {record.shuffle_references}"
    model = record.model or "unknown"
    return ScoredCell(
        cell_id=record.key.cell_id if record.key else folder.path.name,
        persona=record.persona_id or folder.path.parent.parent.name,
        variant=record.variant or (document or {}).get("variant") or "unknown",
        setting=Setting(
            model=model,
            dataset=dataset,
            layer=record.memory_layer or "default",
            seed="none" if record.seed is None else str(record.seed),
            trial=record.trial or 1,
            user=_user(manifest),
            reasoning=str(manifest.get("agent_reasoning_effort") or "unset"),
            hook=bool(record.hook_enabled),
            smoke=bool(record.smoke),
        ),
        document=document,
        problem=problem,
        cost_usd=row.get("cost_usd", manifest.get("cost_usd")),
        paid=made_calls(row),
        privileged=bool(record.privileged),
        blind=model in RULE_BLIND_MODELS,
        episode_digest=record.episode_sha256 or "",
        folder=str(folder.path),
    )


def _score(
    folder: CellFolder, told: Told, episodes: Path | None
) -> tuple[Mapping[str, Any] | None, str | None]:
    """The score, and what is wrong with it or why there is none."""
    record = told.record
    version = told.manifest.get("version", MANIFEST_VERSION)
    if version != MANIFEST_VERSION:
        return None, f"{folder.manifest}: its version is {version!r}, this program reads {MANIFEST_VERSION}"
    if broken_off := aborted_row(folder):
        return None, f"broken off: {broken_off['error']}"
    if (document := read_evaluation(folder)) is None or not _is_fresh(document, folder):
        try:
            found = episode_of(folder, record, below=episodes)
            document = evaluate_cell(folder.path, found.episode, variant=record.variant, cross_check=False)
        except DataError as error:
            return None, f"not scored: {error}"
        if found.changed:
            return document, f"{found.path} has changed since the cell was run"
    if errors := document.get("parse_errors"):
        return document, "; ".join(f"{error['file']}: {error['reason']}" for error in errors)
    return document, None


def _is_fresh(document: Mapping[str, Any], folder: CellFolder) -> bool:
    """Whether this scorer made the score after the last session was written."""
    if document.get("scorer_version") != SCORER_VERSION:
        return False
    written = folder.evaluation.stat().st_mtime_ns
    if not folder.trajectories.is_dir():
        return True
    return all(path.stat().st_mtime_ns <= written for path in folder.trajectories.iterdir())


def _done(folder: CellFolder) -> Mapping[str, Any]:
    """The row of the finished cell; empty when there is none that can be read."""
    try:
        row = read_json(folder.done)
    except DataError:
        return {}
    return cast(dict[str, Any], row) if isinstance(row, dict) else {}


def _user(manifest: Mapping[str, Any]) -> str:
    user = manifest.get("user_sim")
    told = cast(dict[str, Any], user) if isinstance(user, dict) else {}
    return described_user(told) if told else UNKNOWN_USER


def _refuse_twins(cells: Sequence[ScoredCell]) -> None:
    seen: dict[tuple[Setting, str, str, str], ScoredCell] = {}
    for cell in cells:
        key = (cell.setting, cell.variant, cell.persona, cell.cell_id)
        if (first := seen.setdefault(key, cell)) is not cell:
            raise ConfigError(
                f"two sweeps in one folder: {cell.cell_id} lies in {first.folder} and in {cell.folder}; "
                "name one of them"
            )


def _privileged(cells: Sequence[ScoredCell]) -> Iterator[str]:
    for model in sorted({cell.setting.model for cell in cells if cell.privileged}):
        yield f"{model} {PRIVILEGED}"


def _mixtures(cells: Sequence[ScoredCell]) -> Iterator[str]:
    values: dict[Setting, dict[str, set[str]]] = {}
    for cell in cells:
        if manifest := read_manifest(CellFolder(Path(cell.folder)).manifest):
            told = values.setdefault(cell.setting, {name: set() for name in _ALIKE})
            for name in _ALIKE:
                told[name].add(str(manifest.get(name)))
    for setting, told in values.items():
        if mixed := [name for name, found in told.items() if len(found) > 1]:
            yield f"the cells of {setting.model} were made with unlike {', '.join(mixed)}"


def _unverified(cells: Sequence[ScoredCell]) -> Iterator[str]:
    for cell in cells:
        if (cell.document or {}).get("verified") is False:
            yield f"{cell.cell_id}: trajectories and call log differ; atr-client score says where"
