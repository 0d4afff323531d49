"""Readable transcripts next to the trajectories, which they can be made from again."""

from __future__ import annotations

import os
from pathlib import Path

from atr_client.outputs.layout import CellFolder
from atr_client.outputs.transcript_text import transcript_text
from atr_data.files import naming, write_atomic
from atr_data.trajectory import Trajectory
from atr_evaluator import FOOTER_TITLE


def write_trace(folder: CellFolder, trajectory: Trajectory) -> None:
    """Writes `traces/<session_id>.txt`, whole or not at all."""
    path = folder.trace(trajectory.session_id)
    path.parent.mkdir(exist_ok=True)
    write_atomic(path, transcript_text(trajectory), durable=False)


def put_footer(path: Path, footer: str) -> None:
    """Ends a trace with this gold check, in place of an earlier one, or of part of one. Nothing is written
    when it ends so already."""
    wanted = f"\n{footer}".encode()
    with naming(path), path.open("r+b", buffering=0) as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - len(wanted)))
        if stream.read() == wanted:
            return
        stream.seek(0)
        text = stream.read()
        earlier = text.rfind(f"\n{FOOTER_TITLE}\n".encode())
        kept = len(text) if earlier < 0 else earlier
        stream.seek(kept)
        stream.truncate()
        stream.write(wanted)
