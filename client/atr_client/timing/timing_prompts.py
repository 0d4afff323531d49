"""What the agents of the timing track are told."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def timing_prompt(name: str) -> str:
    """The text of one prompt file, without its file ending."""
    return files("atr_client.timing").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


def sitting_prompt(context: str | None, *, remembers: bool | None) -> str:
    """The system prompt of a sitting. `context` is what the agent knows from before. It keeps notes by
    `remember` (`remembers` true), by tools of the memory's own (false), or not at all (None)."""
    kept = [] if remembers is None else [timing_prompt("notes" if remembers else "notes_by_tools")]
    return "\n\n".join([timing_prompt("sitting"), *kept, *_known(context)])


def day_prompt(context: str | None, *, remembers: bool) -> str:
    """The system prompt of a day of the past."""
    kept = timing_prompt("day_notes" if remembers else "day_notes_by_tools")
    return "\n\n".join([timing_prompt("history_day"), kept, *_known(context)])


def _known(context: str | None) -> list[str]:
    return [f"<context>\n{context}\n</context>"] if context else []
