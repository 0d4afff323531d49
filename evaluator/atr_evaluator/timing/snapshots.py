"""Snapshots: single moments, half of them just before help was sought; yes or no at each.

Comparable in form with ProAgentBench. Always saying yes scores an F1 of .667 on any balanced set, so the
Matthews coefficient comes first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from atr_data.timing.events import Stream, WorkEvent
from atr_data.timing.gold import Gold
from atr_evaluator.timing.measures import share
from atr_evaluator.timing.plays import UserPlay, check_play, set_hash

_CLEAR = 300.0
_COVERAGES = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A moment: the last ordinary event before an onset, or before one that did not lead to a need."""

    event_id: str
    wanted: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said to one snapshot."""

    helps: bool
    confidence: float | None = None


def snapshots(stream: Stream, gold: Gold) -> list[Snapshot]:
    """As many moments with a need as without, from the evaluation days. Imports have no scenes; there the
    other half are moments far from any need."""
    start = stream.header.first_evaluation_day
    ordinary = [event for event in stream.events if not event.self_help and event.t_release >= start]
    positives = _last_before(ordinary, [need.t_onset.timestamp() for need in gold.needs])
    if gold.scenes:
        idle = [scene.t_onset.timestamp() for scene in gold.scenes if scene.need_id is None]
        negatives = _last_before(ordinary, idle)
    else:
        onsets = sorted(need.t_onset.timestamp() for need in gold.needs)
        negatives = [event.event_id for event in ordinary if _clear_of(event.t_release.timestamp(), onsets)]
    both = set(positives) & set(negatives)
    positives = [event_id for event_id in positives if event_id not in both]
    negatives = [event_id for event_id in negatives if event_id not in both]
    size = min(len(positives), len(negatives))
    drawn = [Snapshot(event_id, True) for event_id in _draw(positives, size)]
    drawn += [Snapshot(event_id, False) for event_id in _draw(negatives, size)]
    return sorted(drawn, key=lambda item: item.event_id)


def _clear_of(at: float, onsets: Sequence[float]) -> bool:
    place = bisect_left(onsets, at)
    return all(abs(at - onset) > _CLEAR for onset in onsets[max(0, place - 1) : place + 1])


def _last_before(events: Sequence[WorkEvent], onsets: Sequence[float]) -> list[str]:
    """The last event before each onset that any precedes."""
    found: list[str] = []
    index = 0
    for onset in sorted(onsets):
        while index < len(events) and events[index].t_release.timestamp() < onset:
            index += 1
        if index and onset - events[index - 1].t_release.timestamp() <= 3600:
            found.append(events[index - 1].event_id)
    return list(dict.fromkeys(found))


def _draw(event_ids: Sequence[str], size: int) -> list[str]:
    """Evenly over the days. A draw by a hash of the id would tell whoever sees one which half it is from."""
    return [event_ids[(2 * n + 1) * len(event_ids) // (2 * size)] for n in range(size)]


def score_snapshots(items: Sequence[Snapshot], answers: Mapping[str, Answer]) -> dict[str, Any]:
    """A snapshot without an answer counts as no. Undefined shares are 0, `auroc` and `coverage_risk` null."""
    said = [(item.wanted, answers.get(item.event_id, Answer(helps=False))) for item in items]
    tp = sum(wanted and answer.helps for wanted, answer in said)
    fp = sum(not wanted and answer.helps for wanted, answer in said)
    fn = sum(wanted and not answer.helps for wanted, answer in said)
    tn = len(said) - tp - fp - fn
    return {
        "items": len(said),
        "MCC": round(matthews(tp, fp, fn, tn), 4),
        "accuracy": share(tp + tn, len(said)),
        "precision": share(tp, tp + fp),
        "recall": share(tp, tp + fn),
        "F1": share(2 * tp, 2 * tp + fp + fn),
        "auroc": _auroc(said),
        "coverage_risk": _coverage_risk(said),
    }


def matthews(tp: int, fp: int, fn: int, tn: int) -> float:
    """0 when undefined."""
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / sqrt(product) if product else 0.0


def _auroc(said: Sequence[tuple[bool, Answer]]) -> float | None:
    """Of the confidence that help is wanted: that of a yes, or one less that of a no."""
    scores = [
        (wanted, answer.confidence if answer.helps else 1 - answer.confidence)
        for wanted, answer in said
        if answer.confidence is not None
    ]
    above = [score for wanted, score in scores if wanted]
    below = [score for wanted, score in scores if not wanted]
    if not above or not below:
        return None
    wins = sum((a > b) + 0.5 * (a == b) for a in above for b in below)
    return round(wins / (len(above) * len(below)), 4)


def _coverage_risk(said: Sequence[tuple[bool, Answer]]) -> list[dict[str, float]] | None:
    """The share of wrong answers among the most confident ones, at some shares of all."""
    rated = [
        (answer.confidence, wanted != answer.helps)
        for wanted, answer in said
        if answer.confidence is not None
    ]
    if not rated:
        return None
    rated.sort(key=lambda pair: (-pair[0], pair[1]))
    table: list[dict[str, float]] = []
    for coverage in _COVERAGES:
        kept = rated[: max(1, round(coverage * len(rated)))]
        table.append({"coverage": coverage, "risk": share(sum(wrong for _, wrong in kept), len(kept))})
    return table


def score_snapshot_plays(plays: Sequence[UserPlay]) -> dict[str, Any]:
    """Of a set whose sittings are snapshots: an offer at its last event is a yes. With the set's hash beside
    it. Raises TimingError `gold_mismatch` when a gold file or a log belongs to another stream."""
    items: list[Snapshot] = []
    answers: dict[str, Answer] = {}
    for play in sorted(plays, key=lambda play: play.stream.header.user_id):
        check_play(play)
        asked = {sitting.decide_from for sitting in play.stream.header.sittings}
        items += [item for item in snapshots(play.stream, play.gold) if item.event_id in asked]
        for decision in (decision for log in play.logs for decision in log.decisions):
            answers.setdefault(decision.event_id, Answer(decision.assist is not None, decision.confidence))
    answered = sum(item.event_id in answers for item in items)
    return {
        **score_snapshots(items, answers),
        "unanswered": len(items) - answered,
        "set_sha256": set_hash(plays),
    }
