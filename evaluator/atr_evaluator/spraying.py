"""Tool tests that were passed by carrying rival tools out as well, which the pass mark does not notice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from atr_data.episode import RequiredAction
from atr_evaluator.match import Batch, match_action


def is_sprayed(required: RequiredAction, batches: Sequence[Batch], rivals: Collection[str]) -> bool:
    """Whether a test on the choice of a tool was passed, and a rival of that tool carried out too.

    A call without an answer on record counts as carried out. `rivals` may name the tool itself.
    """
    if required.compare_args or not match_action(required, batches).passed:
        return False
    others = set(rivals) - {required.tool}
    return any(call.name in others and call.accepted is not False for batch in batches for call in batch)


def sprayed_passes(
    tests: Iterable[tuple[RequiredAction, Sequence[Batch], Collection[str]]],
) -> int:
    """How many of some tests were passed that way."""
    return sum(is_sprayed(*test) for test in tests)
