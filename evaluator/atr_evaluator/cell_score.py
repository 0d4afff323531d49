"""Scoring the folder of one cell into its `eval.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from atr_data.episode import Episode
from atr_data.errors import DataError
from atr_data.files import write_if_new
from atr_data.json_text import indented_json
from atr_data.reading import StrPath, read_json
from atr_data.skimming import skim_calls
from atr_data.trajectory import Trajectory
from atr_evaluator.agent_calls import finished_attempts
from atr_evaluator.cell_inputs import InputsDigest, ReadTrajectories, content_of, trajectory_files
from atr_evaluator.consistency import Difference, differences
from atr_evaluator.evaluate import score_log, score_trajectories
from atr_evaluator.guess_bound import dataset_of, face_counts
from atr_evaluator.unseen import without_unseen

SCORER_VERSION = "2"
"""Changes whenever the same inputs may give another number."""

Source = Literal["trajectories", "calls"]
ContextsOf = Callable[[Sequence[Trajectory]], Mapping[str, str]]
"""From a cell's trajectories to the SHA-256 of the memory text of each session, by session id."""


@dataclass(frozen=True, slots=True)
class CellScore:
    """`document` is what stands in the file at `path`."""

    document: dict[str, Any]
    path: Path

    @property
    def verified(self) -> bool | None:
        """Whether trajectories and call log tell the same; None where they were not compared."""
        return self.document["verified"]

    @property
    def incomplete(self) -> bool:
        """Whether a learning or test session of the episode has no readable result."""
        metrics = self.document["metrics"]
        return bool(metrics["missing_test_sessions"] or metrics["missing_learning_sessions"])


def score_cell(
    cell_dir: StrPath,
    episode: Episode,
    *,
    variant: str | None,
    source: Source = "trajectories",
    cross_check: bool = True,
    contexts_of: ContextsOf | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> CellScore:
    """Scores a cell and writes its `eval.json`, whole or not at all: see `evaluate_cell`. (Readers take one
    that a crash of the machine has emptied for none, and score again.)

    Raises DataError when there is nothing to score, the source cannot be read, or the file cannot be written.
    """
    path = Path(cell_dir) / "eval.json"
    try:
        document = evaluate_cell(
            cell_dir,
            episode,
            variant=variant,
            source=source,
            cross_check=cross_check,
            contexts_of=contexts_of,
            manifest=manifest,
        )
        text = indented_json(document, 1, ascii_only=True)
    except ValueError as error:
        raise DataError(f"the inputs hold what JSON cannot: {error}", path=path) from error
    try:
        write_if_new(path, text)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=path) from error
    return CellScore(document, path)


def evaluate_cell(
    cell_dir: StrPath,
    episode: Episode,
    *,
    variant: str | None,
    source: Source = "trajectories",
    cross_check: bool = True,
    contexts_of: ContextsOf | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What stands in a cell's `eval.json`.

    `variant` is used when no readable manifest names the cell's own; the `manifest` is read unless it is
    given. A trajectory file that cannot be parsed
    is skipped with a warning, listed under `parse_errors`, and its session is missing. Beside the keys that
    `evaluate_episode` returns, the document tells `companions` (see `companion_metrics`), `losses` (see
    `loss_classes`), `asking` (see `asking_by_session`; null from a log), `dataset`, `faces` (rule id to
    number of faces, null where the episode does not say), `scorer_version`, `source`, `inputs_sha256` (over
    the episode, the variant and the files), `parse_errors`, `ignored`, `diagnostics`, `not_available`, and
    with `cross_check` whether trajectories and call log tell the same: `verified` (null where one of them is
    lacking) and `differences`. `contexts_of` tells from the trajectories which memory text each session
    should have seen. When the manifest says that the agent played from outside, what could not be seen of it
    is null and stands in `not_available`.

    Raises DataError when there is nothing to score, or the source cannot be read.
    """
    folder, log = Path(cell_dir), Path(cell_dir) / "calls.jsonl"
    manifest = _manifest(folder / "cell_manifest.json") if manifest is None else manifest
    own_variant = manifest.get("variant")
    variant = own_variant if isinstance(own_variant, str) and own_variant else variant
    digest = InputsDigest(episode, variant)
    errors: list[dict[str, str]] = []
    trajectories: dict[str, Trajectory] = {}
    if source == "trajectories" or (folder / "trajectories").is_dir():
        read = ReadTrajectories(folder, digest if source == "trajectories" else None)
        trajectories, errors = read.parsed, read.errors
    if source == "trajectories":
        evaluation = score_trajectories(episode, list(trajectories.values()), variant)
    else:
        digest.add(log.name, content_of(log))
        evaluation = score_log(episode, skim_calls(log), variant)
    if manifest.get("agent", "model") != "model":
        evaluation = without_unseen(evaluation)
    verified, found = None, list[Difference]()
    if cross_check and trajectories and log.exists():
        contexts = contexts_of(list(trajectories.values())) if contexts_of else None
        found = _compared(log, trajectories, variant, contexts)
        verified = not found
    return {
        **evaluation.document,
        "companions": evaluation.companions,
        "losses": evaluation.losses,
        "asking": evaluation.asking,
        "dataset": dataset_of(episode),
        "faces": dict(face_counts(episode)) or None,
        "scorer_version": SCORER_VERSION,
        "source": source,
        "inputs_sha256": digest.text,
        "parse_errors": errors,
        "ignored": evaluation.scoring.ignored,
        "diagnostics": evaluation.scoring.diagnostics,
        "not_available": evaluation.not_available,
        "verified": verified,
        "differences": found,
    }


def inputs_digest(cell_dir: StrPath, episode: Episode, variant: str | None) -> str:
    """The digest of what a score from the trajectories of a cell would be made from: see `InputsDigest`."""
    digest, folder = InputsDigest(episode, variant), Path(cell_dir)
    for file in trajectory_files(folder) if (folder / "trajectories").is_dir() else ():
        digest.add(file.name, content_of(file.path))
    return digest.text


def _compared(
    log: Path, trajectories: Mapping[str, Trajectory], variant: str | None, contexts: Mapping[str, str] | None
) -> list[Difference]:
    try:
        attempts = finished_attempts(skim_calls(log))
    except DataError as error:
        return [{"session_id": "", "what": f"{log.name}: {error.reason}"}]
    return differences(trajectories, attempts, variant=variant, contexts=contexts)


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = read_json(path)
    except DataError:
        return {}
    return cast(dict[str, Any], manifest) if isinstance(manifest, dict) else {}
