"""A set of snapshots: the same users and days, each sitting one moment with what led up to it.

Comparable in form with ProAgentBench: as many moments just before help was sought as others.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import timedelta
from hashlib import sha256

from atr_data.timing.events import Sitting, Stream
from atr_data.timing.gold import Gold
from atr_evaluator.timing import snapshots

SHOWN_SECONDS = 300.0
"""How much of the past a snapshot shows."""


def as_snapshots(stream: Stream, gold: Gold) -> Stream:
    """The stream with snapshots in place of its sittings, in an order that tells nothing."""
    moments = [event.t_release for event in stream.events]
    places = {event.event_id: place for place, event in enumerate(stream.events)}
    items = sorted(snapshots(stream, gold), key=lambda item: sha256(item.event_id.encode()).digest())
    sittings: list[Sitting] = []
    for number, item in enumerate(items, start=1):
        event = stream.events[places[item.event_id]]
        first = bisect_left(moments, event.t_release - timedelta(seconds=SHOWN_SECONDS))
        sittings.append(
            Sitting(
                sitting_id=f"{stream.header.user_id}-q{number:03d}",
                first_event=stream.events[first].event_id,
                last_event=event.event_id,
                t_end=event.t_release,
                decide_from=event.event_id,
            )
        )
    source = stream.header.source.model_copy(update={"split": "snapshot"})
    header = stream.header.model_copy(update={"sittings": tuple(sittings), "source": source})
    return stream.model_copy(update={"header": header})
