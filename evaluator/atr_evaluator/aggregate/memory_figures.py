"""What a memory kept of what was heard, and what it cost: the first stands among the losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from atr_evaluator.aggregate.figures import Figure, FigureTable, share
from atr_evaluator.aggregate.settings import Group
from atr_evaluator.memory_companions import pooled_memory

CHARACTERS_PER_TOKEN = 4
"""A round figure for English: tokens of a memory are not counted apart from those of the rest of a prompt."""

RETAINED_NOTE = (
    "heard rules stored, findable, found: of the tests whose rule the user told, in how many its answer "
    "stood in the frozen memory, could be brought up by a session about it, was read; in brackets, of how "
    "many that is known. Beside the sum."
)
NOTES = (
    f"tokens pushed: into a test's prompt, at {CHARACTERS_PER_TOKEN} characters each; read: answered by "
    "memory tools. Both, and calls, bytes and seconds, per test.",
    "writes discarded: made in test sessions, and gone after them.",
)


def memory_table(found: Sequence[Group]) -> FigureTable:
    """Per test where nothing else is said. Cells that record nothing of their memory are left out."""
    figures = [figure for group in found for figure in _group(group)]
    return FigureTable("memory", "memory", figures, NOTES if figures else ())


def retained_figures(group: Group) -> Iterator[Figure]:
    """Between asking and applying: of the rules that were heard, what the memory kept. None of a group in
    which no rule was heard, or of which nothing is known."""
    for name in ("stored", "findable", "found"):
        counts = [
            (cell.persona, kept.get(name, 0), kept.get(f"{name}_known", 0))
            for cell in group.scored
            if (kept := (cell.document or {}).get("companions", {}).get("retained"))
        ]
        if any(known for _, _, known in counts):
            yield share(group.setting, group.variant, f"heard rules {name}", counts)


def _group(group: Group) -> Iterator[Figure]:
    blocks = [block for cell in group.scored if (block := (cell.document or {}).get("companions"))]
    costs = pooled_memory(blocks)["memory"]
    setting, variant = group.setting, group.variant
    if not costs["tests"]:
        return
    for measure, name, divisor in (
        ("tokens pushed", "pushed_characters", CHARACTERS_PER_TOKEN),
        ("tokens read", "returned_characters", CHARACTERS_PER_TOKEN),
        ("memory tool calls", "tool_calls", 1),
        ("bytes stored", "stored_bytes", 1),
        ("seconds", "milliseconds", 1000),
    ):
        value = round(costs[name] / costs["tests"] / divisor, 2)
        yield Figure(setting, variant, measure, value, "rate")
    yield Figure(setting, variant, "writes discarded, all tests", costs["discarded_writes"], "count")
