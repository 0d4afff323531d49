"""Which offer meets which need: in time order, each the earliest-onset open need whose window holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atr_evaluator.timing.sitting_view import Offer, SittingView, Window


@dataclass(frozen=True, slots=True)
class Match:
    """`lead` is seconds from offer to onset, negative when late."""

    offer: Offer
    window: Window

    @property
    def lead(self) -> float:
        return self.window.onset - self.offer.at


@dataclass(frozen=True, slots=True)
class Matching:
    """`repeats` are the false alarms that lie in a window already met."""

    matches: tuple[Match, ...]
    false_alarms: tuple[Offer, ...]
    repeats: int
    missed: tuple[Window, ...]


def match_offers(offers: Sequence[Offer], windows: Sequence[Window]) -> Matching:
    """Both in any order; equal inputs in another order match alike."""
    waiting = sorted(windows, key=lambda window: (window.onset, window.need.need_id))
    met: list[Window] = []
    matches: list[Match] = []
    false_alarms: list[Offer] = []
    repeats = 0
    for offer in sorted(offers, key=lambda offer: (offer.at, offer.event_id)):
        window = next((w for w in waiting if w.opens <= offer.at <= w.closes), None)
        if window is None:
            false_alarms.append(offer)
            repeats += any(w.opens <= offer.at <= w.closes for w in met)
            continue
        waiting.remove(window)
        met.append(window)
        matches.append(Match(offer, window))
    return Matching(tuple(matches), tuple(false_alarms), repeats, tuple(waiting))


def best_moments(view: SittingView) -> dict[str, Window]:
    """The events at which a player who knows the needs would offer help: as many needs met as can be."""
    waiting = sorted(view.windows, key=lambda window: (window.onset, window.need.need_id))
    found: dict[str, Window] = {}
    for at, event_id in sorted(view.moments):
        window = next((w for w in waiting if w.opens <= at <= w.closes), None)
        if window is not None:
            waiting.remove(window)
            found[event_id] = window
    return found
