"""Utility: what help on time is worth, less what false alarms cost, as a share of what is possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from atr_data.timing.gold import Gold
from atr_evaluator.timing.content import judge_content
from atr_evaluator.timing.rules import TimingRules
from atr_evaluator.timing.sitting_view import SittingView
from atr_evaluator.timing.windows import Matching, best_moments


@dataclass(frozen=True, slots=True)
class Gain:
    """Of one sitting: worth of the good matches, number of alarms that cost, and the worth that was there."""

    good: float
    costly: int
    possible: float

    def net(self, cost: float) -> float:
        return self.good - cost * self.costly


def gain_of(view: SittingView, matching: Matching, rules: TimingRules) -> Gain:
    """A match with the wrong intent costs like a false alarm and brings nothing."""
    good, costly = 0.0, len(matching.false_alarms)
    for match in matching.matches:
        content = judge_content(match.window.need, match.offer.assist)
        if content.intent == 0.0:
            costly += 1
            continue
        worth = content.score
        good += (1.0 if match.lead >= 0 else rules.late_share) * (1.0 if worth is None else worth)
    return Gain(good, costly, possible_of(view, rules))


def possible_of(view: SittingView, rules: TimingRules) -> float:
    """What a player who knows the needs reaches."""
    times = {event_id: at for at, event_id in view.moments}
    return sum(
        1.0 if times[event_id] <= window.onset else rules.late_share
        for event_id, window in best_moments(view).items()
    )


def utility(gains: Sequence[Gain], cost: float) -> float:
    """0 when nothing was possible."""
    possible = sum(gain.possible for gain in gains)
    return sum(gain.net(cost) for gain in gains) / possible if possible else 0.0


def interval(gains: Sequence[Gain], rules: TimingRules) -> tuple[float, float] | None:
    """The 95 % interval of utility over resampled user-days; None without any."""
    if not gains:
        return None
    random = Random(rules.resampling_seed)
    values = sorted(
        utility(random.choices(gains, k=len(gains)), rules.false_alarm_cost) for _ in range(rules.resamples)
    )
    last = len(values) - 1
    return values[round(0.025 * last)], values[round(0.975 * last)]


def guess_bound(golds: Sequence[Gold], cost: float) -> float:
    """What a player without memory can expect at most; 0 when there are no scenes."""
    scenes = sum(len(gold.scenes) for gold in golds)
    needs = sum(scene.need_id is not None for gold in golds for scene in gold.scenes)
    rate = needs / scenes if scenes else 0.0
    return max(0.0, rate - cost * (1 - rate)) / rate if rate else 0.0
