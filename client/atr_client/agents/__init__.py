"""Agents that need no key and no network: references to compare with, and proof that the chain works."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from atr_client.models.base import Model, Privileged
from atr_data.episode import Episode


@dataclass(frozen=True, slots=True)
class OfflineModel:
    """`home` is `module:function` in this package: what makes a fresh agent, imported when one is made, since
    tables want the names alone. A rule-blind one never learns a rule of the persona it serves: its score is
    what guessing brings. A taught one is made from the episodes of all other personas."""

    summary: str
    home: str
    taught: bool = False
    rule_blind: bool = False

    def model(self, others: Sequence[Episode] = ()) -> Model:
        """A fresh agent, taught by the episodes of other personas if it learns from them."""
        module, _, name = self.home.partition(":")
        make = cast(Callable[..., Model], getattr(import_module(f"{__name__}.{module}"), name))
        return make(others) if self.taught else make()

    @property
    def privileged(self) -> bool:
        """Whether it sees the labels; tables mark it."""
        return isinstance(self.model(), Privileged)


OFFLINE_MODELS: Mapping[str, OfflineModel] = {
    "offline/gold": OfflineModel("is shown the answers and replays them", "gold:gold_model"),
    "offline/noop": OfflineModel("does nothing", "gold:Noop", rule_blind=True),
    "offline/naive": OfflineModel(
        "does the task the obvious way, never asks, ignores its memory", "asker:naive_model", rule_blind=True
    ),
    "offline/first": OfflineModel(
        "takes the first object listed and the stock value", "nulls:first_model", rule_blind=True
    ),
    "offline/random": OfflineModel("takes any object and any value", "nulls:random_model", rule_blind=True),
    "offline/majority": OfflineModel(
        "does what was right most often for the other personas",
        "majority:majority_model",
        taught=True,
        rule_blind=True,
    ),
    "offline/confirming": OfflineModel(
        "as first, and confirms every write; learns no rule", "reflexes:Confirming"
    ),
    "offline/spraying": OfflineModel(
        "as first, and calls every other tool too; learns no rule", "reflexes:Spraying"
    ),
    "offline/asker": OfflineModel(
        "looks up, asks as its prompt says, and applies what it remembers by shared words", "asker:Asker"
    ),
}

RULE_BLIND_MODELS = tuple(name for name, model in OFFLINE_MODELS.items() if model.rule_blind)
