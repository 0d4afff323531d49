"""Readable transcripts next to the trajectories."""

from __future__ import annotations

from atr_client.outputs.layout import CellFolder
from atr_client.outputs.transcript_text import transcript_text
from atr_data.trajectory import Trajectory


def write_trace(folder: CellFolder, trajectory: Trajectory, footer: str | None = None) -> None:
    """Writes `traces/<session_id>.txt`, whole or not at all.

    A trace follows from its trajectory, so it is not forced to the disk: after a power cut it may be gone,
    and the next run writes it again.
    """
    path = folder.trace(trajectory.session_id)
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_text(transcript_text(trajectory, footer), encoding="utf-8")
    temporary.replace(path)
