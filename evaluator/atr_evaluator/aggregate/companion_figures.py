"""The companion metrics: beside the pass mark, never in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from atr_evaluator.aggregate.figures import Figure, FigureTable
from atr_evaluator.aggregate.settings import Group
from atr_evaluator.companions import pooled_companions

_SHARES = (
    ("% confirmed, confirm rules", "confirm", "hit_rate", "tests"),
    ("% confirmed, sibling rules", "confirm", "sibling_false_alarm_rate", "sibling_tests"),
    ("% confirmed, other rules", "confirm", "false_alarm_rate", "exposed_tests"),
    ("% right object acted on", "target", "agreement", "acted"),
    ("% calls carried out", "executed", "accepted_rate", "answered"),
)
NOTES = (
    "confirmed: the agent asked the user to confirm the guarded tool. Confirm rules want that; a sibling "
    "rule is about the same tool and does not; other rules: tests in which the agent called or announced a "
    "guarded tool.",
    "difference: confirm rules minus sibling rules. Whoever confirms everything, or nothing, gets 0.",
    "right object acted on: the first call of the required tool took the object that the test means.",
    "pairs: two rules about one action in different situations; both, one or none of the two tests passed.",
    "calls carried out: the environment did not refuse the matched call.",
    "corrected later: failed tests that a later call of the agent put right.",
    "in brackets: the number of tests.",
)


def companion_table(found: Sequence[Group]) -> FigureTable:
    """Scores of an older version have none."""
    figures = [figure for group in found for figure in _group(group)]
    return FigureTable("companions", "beside the pass mark", figures, NOTES)


def _group(group: Group) -> Iterator[Figure]:
    blocks = [block for cell in group.scored if (block := (cell.document or {}).get("companions"))]
    pooled: Mapping[str, Mapping[str, Any]] = pooled_companions(blocks)
    setting, variant = group.setting, group.variant
    for measure, block, rate, whole in _SHARES:
        yield Figure(setting, variant, measure, pooled[block][rate], count=pooled[block][whole])
        if rate == "sibling_false_alarm_rate":
            difference = pooled["confirm"]["hit_minus_false_alarm"]
            yield Figure(setting, variant, "difference", difference, "points")
    pairs = pooled["scope_pairs"]
    shown = "/".join(str(pairs[name]) for name in ("both", "one", "none"))
    yield Figure(setting, variant, "pairs: both/one/none", pairs["both"], "count", note=shown)
    later = pooled["corrected_later"]
    yield Figure(setting, variant, "corrected later", later["corrected"], "count", count=later["tests"])
