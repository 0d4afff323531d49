"""What can be told of a moment without reading a word."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from atr_client.timing.choosers.chooser import Seen

_CATEGORIES = ("browser", "ide", "terminal", "office", "reader", "files", "mail", "chat", "meeting", "other")
_FAR, _CONTEXT = 3600.0, 12


def surface_features(event: Seen, seen: Sequence[Seen]) -> list[float]:
    """Time, gaps, applications, lengths, and how recently the user helped himself."""
    seen = seen[-_CONTEXT:]
    ordinary = [one for one in seen if not one.self_help][-5:]
    helped = [one.at for one in seen if one.self_help]
    moment = datetime.fromtimestamp(event.at, UTC)
    gaps = [after.at - before.at for before, after in pairwise([*ordinary, event])]
    previous = ordinary[-1] if ordinary else None
    return [
        moment.hour + moment.minute / 60,
        float(moment.weekday()),
        gaps[-1] if gaps else _FAR,
        sum(gaps[-3:]) if gaps else _FAR,
        float(_CATEGORIES.index(event.category)),
        float(_CATEGORIES.index(previous.category)) if previous else -1.0,
        float(len(event.title)),
        float(len(event.summary)),
        float(len(event.text)),
        float(len(previous.summary)) if previous else -1.0,
        float(len(previous.text)) if previous else -1.0,
        float(event.target is not None),
        float(event.target is not None and any(one.target == event.target for one in ordinary)),
        float(sum(bool(one.text) for one in ordinary)),
        event.at - helped[-1] if helped else _FAR,
        float(len(helped)),
        float(len({one.app for one in ordinary})),
    ]
