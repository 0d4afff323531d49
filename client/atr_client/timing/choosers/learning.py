"""Choosers that learn the chance of a need at each event, and offer help where it is worth it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Protocol

from atr_client.timing.choosers.chooser import Seen, User, seen_event
from atr_client.timing.choosers.drawing import share_of
from atr_data.timing.events import Sitting
from atr_evaluator.timing import TimingRules
from atr_evaluator.timing.sitting_view import Window, windows_of

CHANCES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
COOLDOWNS = (120.0, 300.0, 600.0)
_CONTEXT = 12
_ERRORS = 2.0


class Estimate(Protocol):
    """The chance that help offered at an event would be wanted."""

    def __call__(self, user: User, event: Seen, seen: Sequence[Seen]) -> float: ...


@dataclass(frozen=True, slots=True)
class Policy:
    """When a chance is enough, and how long to keep quiet after an offer. A chance above 1 is silence."""

    chance: float
    cooldown: float


SILENCE = Policy(2.0, 0.0)


@dataclass(frozen=True, slots=True)
class Labelled:
    """An event of the past with what came before it, and whether help was wanted there."""

    event: Seen
    seen: Sequence[Seen]
    wanted: bool


def labelled_past(
    user: User, rules: TimingRules | None = None, *, every: float = 1.0, whole: bool = False
) -> Iterator[Labelled]:
    """The ordinary events before evaluation; of those without a need a share `every`. `whole`: of all days,
    for users that are not played."""
    windows = windows_of(user.gold, rules or TimingRules())
    past = [seen_event(event) for event in (user.stream.events if whole else user.history())]
    for place, event in enumerate(past):
        if event.self_help:
            continue
        wanted = is_wanted(event.at, windows)
        if wanted or every >= 1 or share_of("sample", event.event_id) < every:
            yield Labelled(event, past[max(0, place - _CONTEXT) : place], wanted)


def is_wanted(at: float, windows: Sequence[Window]) -> bool:
    """Whether a moment lies in a window; these are in the order of onsets."""
    place = bisect_left(windows, at, key=lambda window: window.closes)
    return any(window.opens <= at <= window.closes for window in windows[place : place + 2])


@dataclass(frozen=True, slots=True)
class _Moment:
    at: float
    chance: float


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One sitting of a training user, with the chances that an estimate gave at its moments."""

    moments: tuple[_Moment, ...]
    windows: tuple[Window, ...]

    def net(self, policy: Policy, cost: float) -> float:
        """What a policy would have gained, with content always right."""
        last, waiting, total = float("-inf"), list(self.windows), 0.0
        for moment in self.moments:
            if moment.chance < policy.chance or moment.at - last < policy.cooldown:
                continue
            last = moment.at
            window = next((w for w in waiting if w.opens <= moment.at <= w.closes), None)
            if window is None:
                total -= cost
            else:
                waiting.remove(window)
                total += 1
        return total


def rehearse(user: User, estimate: Estimate, rules: TimingRules | None = None) -> list[Rehearsal]:
    """The sittings of a user with an estimate's chances. Only for users that are not played."""
    windows = windows_of(user.gold, rules or TimingRules())
    events = user.stream.sitting_events()
    return [_rehearsal(user, estimate, windows, sitting, [seen_event(e) for e in events[sitting.sitting_id]])
            for sitting in user.stream.header.sittings]  # fmt: skip


def _rehearsal(
    user: User, estimate: Estimate, windows: Sequence[Window], sitting: Sitting, events: Sequence[Seen]
) -> Rehearsal:
    start, end = events[0].at, sitting.t_end.timestamp()
    moments = [
        _Moment(event.at, estimate(user, event, events[:place]))
        for place, event in enumerate(events)
        if not event.self_help
    ]
    return Rehearsal(tuple(moments), tuple(w for w in windows if start <= w.onset <= end))


def best_policy(rehearsals: Sequence[Rehearsal], cost: float = 0.5) -> Policy:
    """The most gainful policy of a small grid; silence when it gains no more than two standard errors of its
    own, for the best of many is mostly the luckiest."""
    best, best_net = SILENCE, 0.0
    for chance in CHANCES:
        for cooldown in COOLDOWNS:
            policy = Policy(chance, cooldown)
            nets = [rehearsal.net(policy, cost) for rehearsal in rehearsals]
            net = sum(nets)
            if net > max(best_net, _ERRORS * sqrt(sum(one * one for one in nets))):
                best, best_net = policy, net
    return best
