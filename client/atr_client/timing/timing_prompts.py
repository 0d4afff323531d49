"""What the agents of the timing track are told."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def timing_prompt(name: str) -> str:
    """The text of one prompt file, without its file ending."""
    return files("atr_client.timing").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


def sitting_prompt(context: str | None, *, notes: bool) -> str:
    """The system prompt of a sitting. `context` is what the agent knows from before, `notes` whether it can
    keep something."""
    parts = [timing_prompt("sitting"), *([timing_prompt("notes")] if notes else []), *_known(context)]
    return "\n\n".join(parts)


def day_prompt(context: str | None) -> str:
    """The system prompt of a day of the past."""
    return "\n\n".join([timing_prompt("history_day"), *_known(context)])


def _known(context: str | None) -> list[str]:
    return [f"<context>\n{context}\n</context>"] if context else []
