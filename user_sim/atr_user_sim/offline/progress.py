"""How far the agent is on the guided path, read from the marks of its calls in the history."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from atr_data.episode import GoldStep
from atr_ontology import load_ontology
from atr_user_sim.interface import HistoryEntry

_DONE = re.compile(r"^\[invoked (\w+)(?:\(.*\))? → ok\]$", re.M)


def remaining(path: Sequence[GoldStep], history: Sequence[HistoryEntry]) -> list[GoldStep]:
    """The steps of the path that no successful call stands for, in order. Empty when the core task is done:
    the last step, or every step that changes something, has succeeded."""
    succeeded = Counter(name for e in history if e.role == "assistant" for name in _DONE.findall(e.content))
    open_steps = [step for step in path if not _take(succeeded, step.tool)]
    if not path or path[-1] not in open_steps[-1:]:
        return []
    writes = [step for step in path if _is_write(step.tool)]
    return open_steps if not writes or any(_is_write(step.tool) for step in open_steps) else []


def in_plain_words(step: GoldStep) -> str:
    """What a step does: how the catalogue of tools begins to describe it, so without any field."""
    tool = load_ontology().tool(step.tool)
    begins = re.split(r"[.;,:]", tool.description)[0] if tool else ""
    return begins[:1].lower() + begins[1:]


def _take(succeeded: Counter[str], tool: str) -> bool:
    succeeded[tool] -= 1
    return succeeded[tool] >= 0


def _is_write(name: str) -> bool:
    tool = load_ontology().tool(name)
    return tool is not None and tool.kind == "write"
