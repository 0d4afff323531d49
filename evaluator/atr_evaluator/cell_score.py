"""Scoring the folder of one cell into its `eval.json`."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from atr_data.calls import read_calls
from atr_data.episode import Episode
from atr_data.errors import DataError
from atr_data.files import write_atomic
from atr_data.load import load_trajectory
from atr_data.trajectory import Trajectory
from atr_evaluator.evaluate import Evaluation, score_log, score_trajectories

SCORER_VERSION = "1"
"""Changes whenever the same inputs may give another number."""

Source = Literal["trajectories", "calls"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CellScore:
    """`document` is what stands in the file at `path`."""

    document: dict[str, Any]
    path: Path

    @property
    def incomplete(self) -> bool:
        """Whether a learning or test session of the episode has no readable result."""
        metrics = self.document["metrics"]
        return bool(metrics["missing_test_sessions"] or metrics["missing_learning_sessions"])


def score_cell(
    cell_dir: Path, episode: Episode, *, variant: str | None, source: Source = "trajectories"
) -> CellScore:
    """Scores a cell and writes its `eval.json`, whole or not at all.

    `variant` is used when no readable manifest names the cell's own. A trajectory file that cannot be parsed
    is skipped with a warning, listed under `parse_errors`, and its session is missing. Beside the keys that
    `evaluate_episode` returns, the file tells `companions` (see `companion_metrics`), `scorer_version`,
    `source`, `inputs_sha256` (over the episode, the variant and the files read), `parse_errors`, `ignored`,
    `diagnostics` and `not_available`.

    Raises DataError when there is nothing to score, the call log has a bad line, or the file cannot be
    written.
    """
    variant = _manifest_variant(cell_dir / "cell_manifest.json") or variant
    errors: list[dict[str, str]] = []
    if source == "trajectories":
        paths = _trajectory_paths(cell_dir)
        evaluation = score_trajectories(episode, list(_parsed(paths, errors)), variant)
    else:
        paths = [cell_dir / "calls.jsonl"]
        evaluation = _score_log(paths[0], episode, variant)
    path = cell_dir / "eval.json"
    try:
        document = {
            **evaluation.document,
            "companions": evaluation.companions,
            "scorer_version": SCORER_VERSION,
            "source": source,
            "inputs_sha256": _digest(episode, variant, paths),
            "parse_errors": errors,
            "ignored": evaluation.scoring.ignored,
            "diagnostics": evaluation.scoring.diagnostics,
            "not_available": evaluation.not_available,
        }
        text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    except ValueError as error:
        raise DataError(f"the inputs hold what JSON cannot: {error}", path=path) from error
    try:
        write_atomic(path, text)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=path) from error
    return CellScore(document, path)


def _manifest_variant(path: Path) -> str | None:
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    variant = cast(dict[str, Any], manifest).get("variant") if isinstance(manifest, dict) else None
    return variant if isinstance(variant, str) else None


def _trajectory_paths(cell_dir: Path) -> list[Path]:
    folder = cell_dir / "trajectories"
    if not folder.is_dir():
        raise DataError("there is no such folder; a cell that ran has one", path=folder)
    return sorted(folder.glob("*.json"))


def _parsed(paths: Iterable[Path], errors: list[dict[str, str]]) -> Iterator[Trajectory]:
    """The trajectories that can be parsed; the others are added to `errors`."""
    for path in paths:
        try:
            yield load_trajectory(path)
        except DataError as error:
            logger.warning("%s is skipped: %s", path, error.reason)
            reason = f"{error.key}: {error.reason}" if error.key else error.reason
            errors.append({"file": path.name, "reason": reason})


def _score_log(path: Path, episode: Episode, variant: str | None) -> Evaluation:
    try:
        return score_log(episode, read_calls(path), variant)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from error


def _digest(episode: Episode, variant: str | None, paths: Iterable[Path]) -> str:
    """SHA-256 over length-prefixed parts, so that no two inputs run together."""
    digest = hashlib.sha256()
    parts = [episode.model_dump_json().encode(), (variant or "").encode()]
    for path in paths:
        parts += [os.fsencode(path.name), _content(path)]
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _content(path: Path) -> bytes:
    """What cannot be read counts as empty; it is among the parse errors."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
