"""The score of a set of users: a pure function of streams, gold and the logs of decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from atr_evaluator.timing.measures import content_measures, lead_measures, timing_measures
from atr_evaluator.timing.plays import UserPlay, check_play, set_hash
from atr_evaluator.timing.rules import COSTS, TimingRules
from atr_evaluator.timing.sitting_view import SittingView, view_sitting, windows_of
from atr_evaluator.timing.utility import Gain, gain_of, guess_bound, interval, utility
from atr_evaluator.timing.windows import Matching, match_offers


@dataclass(frozen=True, slots=True)
class ScoredSitting:
    """One sitting with what its offers met and what that was worth."""

    view: SittingView
    matching: Matching
    gain: Gain


def score_sittings(plays: Iterable[UserPlay], rules: TimingRules | None = None) -> list[ScoredSitting]:
    """Every sitting of every user. Raises TimingError `gold_mismatch` when a gold file or a log belongs to
    another stream."""
    rules = rules or TimingRules()
    scored: list[ScoredSitting] = []
    for play in plays:
        check_play(play)
        logs = {log.sitting_id: log for log in play.logs}
        windows = windows_of(play.gold, rules)
        events = play.stream.sitting_events()
        for sitting in play.stream.header.sittings:
            log = logs.get(sitting.sitting_id)
            view = view_sitting(sitting, events[sitting.sitting_id], windows, log)
            matching = match_offers(view.offers, view.windows)
            scored.append(ScoredSitting(view, matching, gain_of(view, matching, rules)))
    return scored


def score_timing(plays: Sequence[UserPlay], rules: TimingRules | None = None) -> dict[str, Any]:
    """All measures of a run, with the rules and the hash of the set beside them.

    Equal inputs, in whatever order of users, give equal results. Nothing divides by zero: what is undefined
    is 0 or null, and `warnings` says why.
    """
    rules = rules or TimingRules()
    ordered = sorted(plays, key=lambda play: play.stream.header.user_id)
    scored = score_sittings(ordered, rules)
    views = [sitting.view for sitting in scored]
    matchings = [sitting.matching for sitting in scored]
    gains = [sitting.gain for sitting in scored]
    timing = timing_measures(views, matchings, rules)
    cost = rules.false_alarm_cost
    bounds = interval(gains, rules)
    golds = [play.gold for play in ordered]
    hours = timing["active_hours"]
    net = sum(gain.net(cost) for gain in gains)
    return {
        "utility": round(utility(gains, cost), 4),
        "utility_interval": [round(bound, 4) for bound in bounds] if bounds else None,
        "utility_by_cost": {f"{at:g}": round(utility(gains, at), 4) for at in COSTS},
        "U_per_hour": round(net / hours, 4) if hours else None,
        "guess_bound": {f"{at:g}": round(guess_bound(golds, at), 4) for at in COSTS},
        **timing,
        **lead_measures(matchings),
        **content_measures(matchings, timing["assists"], timing["needs"]),
        "incomplete_sittings": sum(view.status != "finished" for view in views),
        "implicit_silences": sum(view.implicit for view in views),
        "protocol_errors": sum(sum(log.protocol_errors.values()) for play in ordered for log in play.logs),
        "rules": rules.shown(),
        "set_sha256": set_hash(ordered),
        "warnings": _warnings(timing),
    }


def _warnings(timing: dict[str, Any]) -> list[str]:
    found = {
        "no needs": timing["needs"] == 0,
        "no assists": timing["assists"] == 0,
        "no active time": timing["active_hours"] == 0,
    }
    return [name for name, holds in found.items() if holds]
