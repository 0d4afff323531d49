"""A memory that is too long for one result of some client: it is read page by page."""

from __future__ import annotations

from collections.abc import Sequence

_BEGIN, _END = "<context>\n", "\n</context>"

LONGEST_RESULT = {"codex": 8_000, "gemini": 30_000}
"""Characters of a result that clients pass on whole, by the beginning of the client's name; others are told
how long results get, or take all."""


def longest_for(client_name: str) -> int | None:
    name = client_name.lower()
    return next((longest for start, longest in LONGEST_RESULT.items() if name.startswith(start)), None)


def paged(instructions: str, longest: int | None, tool: str) -> tuple[str, Sequence[str]]:
    """The instructions as they fit, and the pages that were taken out of them; none when all fits."""
    begin, end = instructions.find(_BEGIN), instructions.rfind(_END)
    if longest is None or len(instructions) <= longest or begin < 0 or end < 0:
        return instructions, ()
    pages = _pages(instructions[begin + len(_BEGIN) : end], longest)
    notice = (
        f"What you know from earlier has {len(pages)} pages. Read all of them with `{tool}` before you act."
    )
    return instructions[: begin + len(_BEGIN)] + notice + instructions[end:], pages


def _pages(text: str, longest: int) -> list[str]:
    """Cut at the ends of lines where there are some; joined again they are the text."""
    pages: list[str] = []
    while len(text) > longest:
        cut = text.rfind("\n", 0, longest) + 1 or longest
        pages.append(text[:cut])
        text = text[cut:]
    return [*pages, text]
