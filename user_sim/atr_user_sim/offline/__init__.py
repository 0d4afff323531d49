"""The offline make of the simulated user: deterministic programs, no model, no network."""

from atr_user_sim.offline.classifier import (
    OfflineClassifier,
    TextComparison,
    default_comparison,
    offline_classifier,
    offline_encoder,
)
from atr_user_sim.offline.router import OfflineRouter, offline_router
from atr_user_sim.offline.simulator import OfflineSimulator

__all__ = [
    "OfflineClassifier",
    "OfflineRouter",
    "OfflineSimulator",
    "TextComparison",
    "default_comparison",
    "offline_classifier",
    "offline_encoder",
    "offline_router",
]
