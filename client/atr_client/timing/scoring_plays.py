"""Sittings and snapshots are scored each in their way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atr_evaluator.timing import TimingRules, UserPlay, score_snapshot_plays, score_timing


def score_plays(plays: Sequence[UserPlay], rules: TimingRules | None = None) -> dict[str, Any]:
    """Snapshots by yes and no, sittings by all measures."""
    if any(play.stream.header.source.split == "snapshot" for play in plays):
        return score_snapshot_plays(plays)
    return score_timing(plays, rules)


def headline(score: Mapping[str, Any]) -> tuple[str, float]:
    """The one number of a result, and its name."""
    name = "MCC" if "MCC" in score else "utility"
    return name, score[name]
