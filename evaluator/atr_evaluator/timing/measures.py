"""Counts and shares over all sittings: timing, content, lead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from atr_evaluator.timing.content import Content, judge_content
from atr_evaluator.timing.rules import TimingRules
from atr_evaluator.timing.sitting_view import SittingView
from atr_evaluator.timing.windows import Match, Matching


def timing_measures(
    views: Sequence[SittingView], matchings: Sequence[Matching], rules: TimingRules
) -> dict[str, Any]:
    """Shares are 0 when undefined; false alarms per hour is null without active time."""
    matched = sum(len(matching.matches) for matching in matchings)
    offers = sum(len(view.offers) for view in views)
    needs = sum(len(view.windows) for view in views)
    alarms = sum(len(matching.false_alarms) for matching in matchings)
    hours = sum(view.active_hours(rules.idle_gap) for view in views)
    cued = sum(window.need.t_cue is not None for view in views for window in view.windows)
    cued_met = sum(m.window.need.t_cue is not None for matching in matchings for m in matching.matches)
    return {
        "decisions": sum(len(view.moments) for view in views),
        "needs": needs,
        "assists": offers,
        "matched": matched,
        "missed": sum(len(matching.missed) for matching in matchings),
        "false_alarms": alarms,
        "repeats": sum(matching.repeats for matching in matchings),
        "P_T": share(matched, offers),
        "R_T": share(matched, needs),
        "F1_T": f1(matched, offers, needs),
        "R_T_cued": share(cued_met, cued),
        "R_T_ceiling": share(cued, needs),
        "active_hours": round(hours, 4),
        "false_alarms_per_hour": round(alarms / hours, 4) if hours else None,
    }


def lead_measures(matchings: Iterable[Matching]) -> dict[str, Any]:
    """Seconds; null without a match."""
    matches = [match for matching in matchings for match in matching.matches]
    leads = sorted(match.lead for match in matches)
    shares = [value for value in map(_lead_share, matches) if value is not None]
    return {
        "lead_s": {name: _quantile(leads, q) for name, q in (("p10", 0.1), ("median", 0.5), ("p90", 0.9))},
        "lead_share": round(fmean(shares), 4) if shares else None,
    }


def _lead_share(match: Match) -> float | None:
    if match.window.need.t_cue is None:
        return None
    room = match.window.onset - match.window.need.t_cue.timestamp()
    return min(1.0, max(0.0, match.lead / room)) if room > 0 else None


def _quantile(ordered: Sequence[float], q: float) -> float | None:
    if not ordered:
        return None
    place = q * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return round(ordered[low] + (place - low) * (ordered[high] - ordered[low]), 3)


def content_measures(matchings: Iterable[Matching], offers: int, needs: int) -> dict[str, Any]:
    """Means over matched assists; null where no gold allows one, with the number left out beside it."""
    judged = [
        judge_content(m.window.need, m.offer.assist) for matching in matchings for m in matching.matches
    ]
    right = sum(content.right for content in judged)
    return {
        "content": _mean([content.score for content in judged]),
        "intent_acc": _mean([content.intent for content in judged]),
        "target_acc": _mean([content.target for content in judged]),
        "fact_f1": _mean([content.facts for content in judged]),
        "slot_f1": _mean([content.slots for content in judged]),
        "query_f1": _mean([content.query for content in judged]),
        "without_gold": _without_gold(judged),
        "F1_E2E": f1(right, offers, needs),
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(fmean(known), 4) if known else None


def _without_gold(judged: Sequence[Content]) -> dict[str, int]:
    return {
        "intent": sum(content.intent is None for content in judged),
        "target": sum(content.target is None for content in judged),
        "facts": sum(content.facts is None for content in judged),
    }


def share(part: int, whole: int) -> float:
    """To four decimals, 0 when undefined."""
    return round(part / whole, 4) if whole else 0.0


def f1(matched: int, assists: int, needs: int) -> float:
    """To four decimals, 0 when undefined."""
    return share(2 * matched, assists + needs)
