"""Scoring of the timing track: when help was offered, and what it was worth."""

from atr_evaluator.timing.plays import UserPlay, set_hash
from atr_evaluator.timing.rules import TimingRules
from atr_evaluator.timing.score import score_sittings, score_timing
from atr_evaluator.timing.snapshots import (
    Answer,
    Snapshot,
    score_snapshot_plays,
    score_snapshots,
    snapshots,
)
from atr_evaluator.timing.windows import best_moments, match_offers

__all__ = [
    "Answer",
    "Snapshot",
    "TimingRules",
    "UserPlay",
    "best_moments",
    "match_offers",
    "score_sittings",
    "score_snapshot_plays",
    "score_snapshots",
    "score_timing",
    "set_hash",
    "snapshots",
]
