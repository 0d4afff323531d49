"""Scoring what a cell has on disk, and writing the gold check into its traces."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

from atr_client.outputs.contexts import contexts_of
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.stored_cells import Told
from atr_client.outputs.traces import put_footer
from atr_data.episode import Episode
from atr_evaluator import CellScore, score_cell, trace_footer

Source = Literal["trajectories", "calls"]


def score_folder(
    folder: CellFolder,
    episode: Episode,
    *,
    variant: str | None,
    source: Source = "trajectories",
    trace_footers: bool = True,
    cross_check: bool = True,
    told: Told | None = None,
) -> CellScore:
    """Writes `eval.json`, and with `trace_footers` the gold check to the end of each test session's trace.
    `cross_check` compares trajectories and call log, and the memory text of each session with what the
    learning trajectories give. `told` is what the manifest says, read unless it is given."""
    told = told or Told.of(folder)
    score = score_cell(
        folder.path,
        episode,
        variant=variant,
        source=source,
        cross_check=cross_check,
        contexts_of=contexts_of(episode, told.record.variant or variant, told.record),
        manifest=told.manifest,
    )
    if trace_footers and source == "trajectories":
        for result in score.document["session_results"]:
            if not result.get("missing"):
                with suppress(FileNotFoundError):
                    put_footer(folder.trace(result["session_id"]), trace_footer(result))
    return score
