"""A user who answers every question about what holds in general, and a short episode to tell things in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from atr_client.cell.episode_runner import UserMaker
from atr_client.gateway import external_cell
from atr_data import Episode, load_episode
from atr_data.episode import LearningSession
from atr_user_sim import SimulatedUser, UserBrief, simulated_user
from atr_user_sim.interface import ClassifierVerdict, PoolRule
from atr_user_sim.offline import OfflineSimulator, offline_router
from tests.conftest import ROOT


@dataclass
class Telling:
    """Answers with the rule, of those not told yet, that shares most words with the question."""

    told: set[str] = field(default_factory=set)

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        asked = set(question.lower().split())
        left = [rule for rule in pool if rule.rule_id not in self.told]
        best = max(
            left, key=lambda rule: len(asked & set(rule.canonical_answer.lower().split())), default=None
        )
        if best is None:
            return ClassifierVerdict(None)
        self.told.add(best.rule_id)
        return ClassifierVerdict(best.rule_id)


def telling_users() -> UserMaker:
    roles = offline_router(), Telling()

    def make(episode: Episode, session: LearningSession) -> SimulatedUser:
        return simulated_user(*roles, OfflineSimulator(UserBrief.of(episode, session)), episode.rules)

    return make


def tell_at_gateways(patch: pytest.MonkeyPatch) -> None:
    """Has this user at every desk: what a test plants in her answers, her Classifier need not know."""
    patch.setattr(external_cell, "users_of_cells", lambda *_: lambda _: telling_users())


def short_episode(learning: int = 3, tests: int = 2, persona: str = "dashiell_okonjo") -> Episode:
    """The first sessions of a persona, and the tests of its first rules, which are all that it has."""
    episode = load_episode(ROOT / "data" / "episodes" / f"{persona}_seed000.json")
    kept = episode.test_sessions[:tests]
    rules = [rule for rule in episode.rules if rule.rule_id in {test.rule_id for test in kept}]
    sessions = episode.ordered_learning_sessions()[:learning]
    return episode.model_copy(update={"learning_sessions": sessions, "test_sessions": kept, "rules": rules})
