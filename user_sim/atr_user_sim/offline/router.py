"""Does a message ask how the user wants things done in general, and which sentence asks?

Each sentence is judged on its own, in its place in the message, by what was learned from labelled turns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from atr_user_sim.interface import RouterVerdict
from atr_user_sim.offline.head import WEIGHTS, weights
from atr_user_sim.offline.sentence_features import message_features
from atr_user_sim.offline.sentences import sentences


class OfflineRouter:
    def __init__(self, folder: Path = WEIGHTS) -> None:
        raw = weights(folder, "router")
        self._weights: Mapping[str, float] = raw["weights"]
        self._bias: float = raw["bias"]
        self._enough: float = raw["enough"]

    async def route(self, *, output: str, reason: str) -> RouterVerdict:
        """The sentence that most probably asks for a rule, if it is probable enough; of equals the first."""
        spoken = sentences(output)
        shares = [self._share(found) for found in message_features(spoken, reason)]
        best = max(range(len(spoken)), key=shares.__getitem__, default=None)
        if best is None or shares[best] < self._enough:
            return RouterVerdict(False, None)
        return RouterVerdict(True, spoken[best].text)

    def _share(self, features: Mapping[str, float]) -> float:
        known = self._weights
        score = self._bias + sum(known[name] * value for name, value in features.items() if name in known)
        return 1 / (1 + math.exp(-score))


def offline_router(folder: Path = WEIGHTS) -> OfflineRouter:
    return OfflineRouter(folder)
