"""The cross-session memory: what an agent carries from one session into the next."""

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
from atr_memory.layers.retrieval import Ranking
from atr_memory.layers.whole_text import CONTEXT, NONE
from atr_memory.registry import LAYER_KINDS, NAMED_LAYERS, LayerHelp
from atr_memory.server import build_memory_server
from atr_memory.store import Entry, MemoryStore, StoreError
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
