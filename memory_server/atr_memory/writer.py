"""A model that writes for a memory, as layers know it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

from atr_data.usage import Usage


@dataclass(frozen=True, slots=True)
class Written:
    """`text` is what the model answered, "" when it answered nothing."""

    text: str
    usage: Usage | None = None


class Writer(Protocol):
    """Raises MemoryFault when the model cannot be reached for good."""

    async def write(self, instructions: str, material: str) -> Written: ...


@cache
def memory_prompt(name: str) -> str:
    """The text of one prompt file, without its file ending."""
    return files("atr_memory").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()
