"""The kinds of memory layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from atr_memory.layer import MemoryLayer
from atr_memory.layers.notes import Notes
from atr_memory.layers.retrieval import Ranking, Retrieval
from atr_memory.layers.rules import Rules
from atr_memory.layers.whole_text import CONTEXT, NONE
from atr_memory.text_search import ranked


@dataclass(frozen=True, slots=True)
class LayerHelp:
    """What layers need that is not theirs. `by_meaning` ranks texts by a sentence encoder."""

    by_meaning: Ranking | None = None


LayerMaker = Callable[[str, Mapping[str, Any], LayerHelp], MemoryLayer]
"""From a name, the settings of a layer (see `MemoryLayer.settings`) and some help to the layer."""


def _retrieval(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    told = {key: settings[key] for key in ("by", "read", "top", "chunk") if key in settings}
    ranking = given.by_meaning if told.get("by") == "encoder" else ranked
    if ranking is None:
        raise ValueError("a sentence encoder is needed: install atrbench[encoder]")
    return Retrieval(name=name, ranking=ranking, **told)


LAYER_KINDS: Mapping[str, LayerMaker] = {
    "none": lambda name, settings, given: NONE,
    "context": lambda name, settings, given: CONTEXT,
    "notes": lambda name, settings, given: Notes(),
    "retrieval": _retrieval,
    "rules": lambda name, settings, given: Rules(),
}

NAMED_LAYERS = ("none", "context", "notes", "retrieval", "rules")
"""Kinds that need no settings."""
