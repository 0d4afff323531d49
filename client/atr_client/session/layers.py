"""Memory layers by the names and settings that configurations and manifests give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atr_client.errors import ConfigError
from atr_memory import LAYER_KINDS, NAMED_LAYERS, LayerHelp, MemoryLayer

_ONE_OF = f"one of: {', '.join(NAMED_LAYERS)}"


def named_layer(name: str) -> MemoryLayer:
    """A layer of which there is nothing to say but its name. Raises ConfigError for any other name."""
    if name in LAYER_KINDS and name not in NAMED_LAYERS:
        raise ConfigError(f"the memory layer {name!r} needs settings; {_ONE_OF}")
    if name not in NAMED_LAYERS:
        raise ConfigError(f"unknown memory layer {name!r}; {_ONE_OF}")
    return LAYER_KINDS[name](name, {}, LayerHelp())


def recorded_layer(name: str | None, settings: Mapping[str, Any] | None) -> MemoryLayer | None:
    """The layer that a manifest tells of, where what it keeps follows from transcripts alone; None where it
    does not, or is not known."""
    name = name or "context"
    settings = settings or {"kind": name}
    kind = settings.get("kind")
    if kind not in NAMED_LAYERS:
        return None
    try:
        return LAYER_KINDS[kind](name, settings, LayerHelp())
    except ValueError:
        return None
