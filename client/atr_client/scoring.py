"""Scoring what a cell has on disk, and writing the gold check into its traces."""

from __future__ import annotations

from typing import Literal

from atr_client.layout import CellFolder
from atr_client.show import transcript_text
from atr_data.episode import Episode
from atr_data.files import write_atomic
from atr_data.trajectory import Trajectory
from atr_evaluator import CellScore, score_cell, trace_footer

Source = Literal["trajectories", "calls"]


def score_folder(
    folder: CellFolder,
    episode: Episode,
    *,
    variant: str | None,
    source: Source = "trajectories",
    trace_footers: bool = True,
) -> CellScore:
    """Writes `eval.json`, and with `trace_footers` the gold check to the end of each test session's trace."""
    score = score_cell(folder.path, episode, variant=variant, source=source)
    if trace_footers:
        for result in score.document["session_results"]:
            _add_footer(folder, result["session_id"], trace_footer(result))
    return score


def _add_footer(folder: CellFolder, session_id: str, footer: str) -> None:
    trace, trajectory = folder.trace(session_id), folder.trajectory(session_id)
    if trace.exists() and trajectory.exists():
        text = transcript_text(Trajectory.model_validate_json(trajectory.read_bytes()), footer)
        write_atomic(trace, text)
