"""What is played of an episode."""

from __future__ import annotations

from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.variants import VARIANTS


def sessions_of(episode: Episode, variant: str) -> list[LearningSession | TestSession]:
    """What is played, in the order of the protocol; oracles have no learning sessions."""
    learning = [] if VARIANTS[variant].is_oracle else episode.ordered_learning_sessions()
    return [*learning, *episode.test_sessions]
