"""Readable transcripts next to the trajectories, which they can be made from again."""

from __future__ import annotations

import os
from pathlib import Path

from atr_client.outputs.layout import CellFolder
from atr_client.outputs.transcript_text import transcript_text
from atr_data.files import naming, write_atomic
from atr_data.reading import StrPath
from atr_data.trajectory import Trajectory
from atr_evaluator import FOOTER_TITLE


def write_trace(folder: CellFolder, trajectory: Trajectory) -> None:
    """Writes `traces/<session_id>.txt`, whole or not at all."""
    path = folder.trace(trajectory.session_id)
    path.parent.mkdir(exist_ok=True)
    write_atomic(path, transcript_text(trajectory), durable=False)


def put_footer(path: StrPath, footer: str) -> None:
    """Ends a trace with this gold check, in place of an earlier one, or of part of one. Nothing is written
    when it ends so already."""
    wanted = f"\n{footer}".encode()
    with naming(path):
        if _ends_with(path, wanted):
            return
        _end_with(path, wanted)


def _ends_with(path: StrPath, wanted: bytes) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        end = os.lseek(descriptor, 0, os.SEEK_END)
        return os.pread(descriptor, len(wanted) + 1, max(0, end - len(wanted))) == wanted
    finally:
        os.close(descriptor)


def _end_with(path: StrPath, wanted: bytes) -> None:
    with Path(path).open("r+b", buffering=0) as stream:
        text = stream.read()
        earlier = text.rfind(f"\n{FOOTER_TITLE}\n".encode())
        kept = len(text) if earlier < 0 else earlier
        stream.seek(kept)
        stream.truncate()
        stream.write(wanted)
