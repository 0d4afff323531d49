"""The right content, granted to a chooser whose sense of the moment alone is to be measured."""

from __future__ import annotations

from collections.abc import Sequence

from atr_client.timing.choosers.chooser import Seen, User
from atr_client.timing.choosers.oracle import right_help
from atr_client.timing.choosers.trained import Offer
from atr_data.timing.decisions import Assist
from atr_evaluator.timing import TimingRules
from atr_evaluator.timing.sitting_view import windows_of


def granted_content(user: User) -> Offer:
    """What the need at hand asks for, if there is one."""
    windows = windows_of(user.gold, TimingRules())

    def offer(event: Seen, seen: Sequence[Seen]) -> Assist:
        window = next((w for w in windows if w.opens <= event.at <= w.closes), None)
        return Assist(intent="uncategorized") if window is None else right_help(window.need)

    return offer
