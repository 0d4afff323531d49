"""The companion metrics of a model: a table beside the pass mark, one column per variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich import box
from rich.table import Table

Block = Mapping[str, Mapping[str, Any]]


def companion_table(blocks: Mapping[str, Block]) -> Table:
    """`blocks` maps a variant to the companions pooled over its cells."""
    table = Table(box=box.SIMPLE)
    table.add_column("beside the pass mark")
    for variant in blocks:
        table.add_column(variant, justify="right")
    for label, cell in _LINES.items():
        table.add_row(label, *(cell(block) for block in blocks.values()))
    return table


def _share(group: str, rate: str, whole: str) -> Callable[[Block], str]:
    def cell(block: Block) -> str:
        figures = block[group]
        return "-" if figures[rate] is None else f"{100 * figures[rate]:.1f} ({figures[whole]})"

    return cell


def _difference(block: Block) -> str:
    difference = block["confirm"]["hit_minus_false_alarm"]
    return "-" if difference is None else f"{100 * difference:+.1f}"


def _pairs(block: Block) -> str:
    return "/".join(str(block["scope_pairs"][name]) for name in ("both", "one", "none"))


def _corrected(block: Block) -> str:
    return f"{block['corrected_later']['corrected']} ({block['corrected_later']['tests']})"


_LINES: Mapping[str, Callable[[Block], str]] = {
    "% confirmed, confirm rules": _share("confirm", "hit_rate", "tests"),
    "% confirmed, sibling rules": _share("confirm", "sibling_false_alarm_rate", "sibling_tests"),
    "  difference": _difference,
    "% confirmed, other rules": _share("confirm", "false_alarm_rate", "exposed_tests"),
    "% right object acted on": _share("target", "agreement", "acted"),
    "pairs: both/one/none": _pairs,
    "% calls carried out": _share("executed", "accepted_rate", "answered"),
    "corrected later": _corrected,
}

LEGEND = (
    "beside the pass mark, never in it; the number of tests in brackets:",
    "  confirmed: the agent asked the user to confirm the guarded tool. Confirm rules want that; a sibling"
    " rule is about the same tool and does not; other rules: tests in which the agent called or announced a"
    " guarded tool.",
    "  difference: confirm rules minus sibling rules. Whoever confirms everything, or nothing, gets 0.",
    "  right object acted on: the first call of the required tool took the object that the test means.",
    "  pairs: two rules about one action in different situations; both, one or none of the two tests passed.",
    "  calls carried out: the environment did not refuse the matched call.",
    "  corrected later: failed tests that a later call of the agent put right.",
)
"""What the rows mean, a line of prose each; printed once under all tables."""
