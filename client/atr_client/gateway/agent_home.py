"""Where a program's files lie: for one session, or for as long as its memory lives."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from atr_client.gateway.client_presets import CONFIG, INSTRUCTIONS, PASSING
from atr_client.session.agent_memory import AgentMemory
from atr_memory.layers.home import FolderOffer

HARNESS_FILES = (f"work/{INSTRUCTIONS}", f"work/{CONFIG}", "work/.gemini/settings.json", PASSING)
"""What the harness puts there for each session anew: no memory of the agent."""


@contextmanager
def agent_folder(memory: AgentMemory) -> Generator[Path]:
    """The agent's own files where they are its memory, else a folder for this session alone."""
    if isinstance(memory.offer, FolderOffer) and memory.folder is not None:
        memory.offer.leave_out.update(HARNESS_FILES)
        yield memory.folder
        return
    with tempfile.TemporaryDirectory(prefix="agent-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def keeps_files(memory: AgentMemory) -> bool:
    return isinstance(memory.offer, FolderOffer)
