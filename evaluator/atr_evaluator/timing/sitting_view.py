"""What the scorer looks at in one sitting: moments of decision, windows of needs, and the offers made."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from atr_data.timing.decisions import Assist, Decision, SittingLog
from atr_data.timing.events import Sitting, WorkEvent
from atr_data.timing.gold import Gold, Need, Scene
from atr_evaluator.timing.rules import TimingRules


@dataclass(frozen=True, slots=True)
class Window:
    """When help with a need counts: from `opens` to `closes`, both included, in seconds."""

    need: Need
    opens: float
    closes: float

    @property
    def onset(self) -> float:
        return self.need.t_onset.timestamp()


@dataclass(frozen=True, slots=True)
class Offer:
    """An assist at the moment at which its event was released."""

    at: float
    event_id: str
    assist: Assist


@dataclass(frozen=True, slots=True)
class SittingView:
    """`moments` are those at which a decision is asked for, `times` those of all events."""

    user_id: str
    sitting_id: str
    day: str
    moments: tuple[tuple[float, str], ...]
    times: tuple[float, ...]
    windows: tuple[Window, ...]
    offers: tuple[Offer, ...]
    decided: int
    implicit: int
    status: str

    def active_hours(self, idle_gap: float) -> float:
        gaps = (after - before for before, after in zip(self.times, self.times[1:], strict=False))
        return sum(gap for gap in gaps if gap <= idle_gap) / 3600


def windows_of(gold: Gold, rules: TimingRules) -> list[Window]:
    """In the order of onsets."""
    scenes = {scene.scene_id: scene for scene in gold.scenes}
    found = [_window(need, scenes, rules) for need in gold.needs]
    return sorted(found, key=lambda window: (window.onset, window.need.need_id))


def _window(need: Need, scenes: Mapping[str, Scene], rules: TimingRules) -> Window:
    onset = need.t_onset.timestamp()
    scene = scenes.get(need.scene_id) if need.scene_id else None
    if scene is None:
        return Window(need, onset - rules.before, onset + rules.after)
    return Window(need, scene.t_first.timestamp(), onset)


def view_sitting(
    sitting: Sitting, events: Sequence[WorkEvent], windows: Sequence[Window], log: SittingLog | None
) -> SittingView:
    """`windows` are in the order of onsets. A sitting without a log is silence. Decisions on events
    that the sitting lacks are left out, as are second ones on one event and those on self-help events."""
    start, end = events[0].t_release.timestamp(), sitting.t_end.timestamp()
    first_window = bisect_left(windows, start, key=_onset)
    last_window = bisect_right(windows, end, key=_onset)
    ids = [event.event_id for event in events]
    asked = events[ids.index(sitting.decide_from) if sitting.decide_from else 0 :]
    open_events = {event.event_id: event for event in asked if not event.self_help}
    first: dict[str, Decision] = {}
    for decision in log.decisions if log else ():
        if decision.event_id in open_events:
            first.setdefault(decision.event_id, decision)
    return SittingView(
        user_id=events[0].user_id,
        sitting_id=sitting.sitting_id,
        day=events[0].t_release.date().isoformat(),
        moments=tuple((event.t_release.timestamp(), event.event_id) for event in open_events.values()),
        times=tuple(event.t_release.timestamp() for event in events),
        windows=tuple(windows[first_window:last_window]),
        offers=_offers(first.values(), open_events),
        decided=len(first),
        implicit=sum(decision.implicit for decision in first.values()),
        status=log.status if log else "missing",
    )


def _onset(window: Window) -> float:
    return window.onset


def _offers(decisions: Iterable[Decision], events: Mapping[str, WorkEvent]) -> tuple[Offer, ...]:
    found = [
        Offer(events[decision.event_id].t_release.timestamp(), decision.event_id, decision.assist)
        for decision in decisions
        if decision.assist is not None
    ]
    return tuple(sorted(found, key=lambda offer: (offer.at, offer.event_id)))
