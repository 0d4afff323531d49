"""The offline make of the simulated user: deterministic programs, no model, no network."""

from atr_user_sim.offline.classifier import OfflineClassifier, offline_classifier
from atr_user_sim.offline.router import OfflineRouter, offline_router
from atr_user_sim.offline.simulator import OfflineSimulator

__all__ = ["OfflineClassifier", "OfflineRouter", "OfflineSimulator", "offline_classifier", "offline_router"]
