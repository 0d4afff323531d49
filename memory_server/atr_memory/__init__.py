"""The cross-session memory: what an agent carries from one session into the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atr_data.lazy_names import loaded_on_use

if TYPE_CHECKING:
    from atr_memory.layer import (
        Answer,
        FinishedSession,
        Kept,
        Learned,
        MemoryFault,
        MemoryLayer,
        Offer,
        seen_digest,
        seen_text,
    )
    from atr_memory.layers.whole_text import CONTEXT, NONE
    from atr_memory.registry import LAYER_KINDS, NAMED_LAYERS, LayerHelp
    from atr_memory.server import build_memory_server
    from atr_memory.store import Entry, MemoryStore, StoreError
    from atr_memory.text_search import Ranking
    from atr_memory.transcript import DISTILLED, render_transcript

__all__ = [
    "CONTEXT",
    "DISTILLED",
    "LAYER_KINDS",
    "NAMED_LAYERS",
    "NONE",
    "Answer",
    "Entry",
    "FinishedSession",
    "Kept",
    "LayerHelp",
    "Learned",
    "MemoryFault",
    "MemoryLayer",
    "MemoryStore",
    "Offer",
    "Ranking",
    "StoreError",
    "build_memory_server",
    "render_transcript",
    "seen_digest",
    "seen_text",
]

__getattr__ = loaded_on_use(
    __name__,
    {
        "CONTEXT": "layers.whole_text",
        "DISTILLED": "transcript",
        "LAYER_KINDS": "registry",
        "NAMED_LAYERS": "registry",
        "NONE": "layers.whole_text",
        "Answer": "layer",
        "Entry": "store",
        "FinishedSession": "layer",
        "Kept": "layer",
        "LayerHelp": "registry",
        "Learned": "layer",
        "MemoryFault": "layer",
        "MemoryLayer": "layer",
        "MemoryStore": "store",
        "Offer": "layer",
        "Ranking": "text_search",
        "StoreError": "store",
        "build_memory_server": "server",
        "render_transcript": "transcript",
        "seen_digest": "layer",
        "seen_text": "layer",
    },
)
