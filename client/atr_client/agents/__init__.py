"""Agents that need no key and no network: references to compare with, and proof that the chain works."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from atr_client.agents.asker import Asker
from atr_client.agents.gold import Noop, gold_model
from atr_client.agents.majority import majority_model
from atr_client.agents.nulls import First, NullAgent, random_model
from atr_client.agents.reflexes import Confirming, Spraying
from atr_client.models.base import Model, Privileged
from atr_data.episode import Episode


@dataclass(frozen=True, slots=True)
class OfflineModel:
    """`make` gives a fresh agent. A rule-blind one never learns a rule of the persona it serves: its score is
    what guessing brings. `teach`, in place of `make`, takes the episodes of all other personas."""

    summary: str
    make: Callable[[], Model] | None = None
    teach: Callable[[Sequence[Episode]], Model] | None = None
    rule_blind: bool = False

    def model(self, others: Sequence[Episode] = ()) -> Model:
        """A fresh agent, taught by the episodes of other personas if it learns from them."""
        if self.teach:
            return self.teach(others)
        assert self.make, "an entry names make or teach"
        return self.make()

    @property
    def privileged(self) -> bool:
        """Whether it sees the labels; tables mark it."""
        return isinstance(self.model(), Privileged)


OFFLINE_MODELS: Mapping[str, OfflineModel] = {
    "offline/gold": OfflineModel("is shown the answers and replays them", gold_model),
    "offline/noop": OfflineModel("does nothing", Noop, rule_blind=True),
    "offline/naive": OfflineModel(
        "does the task the obvious way, never asks, ignores its memory",
        lambda: Asker(remembers=False),
        rule_blind=True,
    ),
    "offline/first": OfflineModel(
        "takes the first object listed and the stock value", lambda: NullAgent(First()), rule_blind=True
    ),
    "offline/random": OfflineModel("takes any object and any value", random_model, rule_blind=True),
    "offline/majority": OfflineModel(
        "does what was right most often for the other personas", teach=majority_model, rule_blind=True
    ),
    "offline/confirming": OfflineModel("as first, and confirms every write; learns no rule", Confirming),
    "offline/spraying": OfflineModel("as first, and calls every other tool too; learns no rule", Spraying),
    "offline/asker": OfflineModel(
        "looks up, asks as its prompt says, and applies what it remembers by shared words", Asker
    ),
}

RULE_BLIND_MODELS = tuple(name for name, model in OFFLINE_MODELS.items() if model.rule_blind)
