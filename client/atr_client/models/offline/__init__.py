"""Agents that need no key and no network: references to compare with, and proof that the chain works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from atr_client.models.base import AgentModel, PrivilegedModel
from atr_client.models.offline.asker import Asker
from atr_client.models.offline.gold import GoldModel, Noop


@dataclass(frozen=True, slots=True)
class OfflineModel:
    """`make` gives a fresh agent. A privileged one sees the labels; tables mark it."""

    summary: str
    make: Callable[[], AgentModel | PrivilegedModel]
    privileged: bool = False


OFFLINE_MODELS: Mapping[str, OfflineModel] = {
    "offline/gold": OfflineModel("is shown the answers and replays them", GoldModel, privileged=True),
    "offline/noop": OfflineModel("does nothing", Noop),
    "offline/naive": OfflineModel(
        "does the task the obvious way, never asks, ignores its memory", lambda: Asker(remembers=False)
    ),
    "offline/asker": OfflineModel(
        "looks up, asks as its prompt says, and applies what it remembers by shared words", Asker
    ),
}
