"""Readable transcripts next to the trajectories."""

from __future__ import annotations

from atr_client.outputs.layout import CellFolder
from atr_client.outputs.transcript_text import transcript_text
from atr_data.files import write_atomic
from atr_data.trajectory import Trajectory


def write_trace(folder: CellFolder, trajectory: Trajectory, footer: str | None = None) -> None:
    """Writes `traces/<session_id>.txt`, whole or not at all."""
    path = folder.trace(trajectory.session_id)
    path.parent.mkdir(exist_ok=True)
    write_atomic(path, transcript_text(trajectory, footer))
