"""The cross-session memory: what an agent carries from one session into the next."""

from atr_memory.layers import CONTEXT, LAYERS, NONE, MemoryLayer
from atr_memory.server import build_memory_server
from atr_memory.store import Entry, MemoryStore, StoreError
from atr_memory.transcript import render_transcript

__all__ = [
    "CONTEXT",
    "LAYERS",
    "NONE",
    "Entry",
    "MemoryLayer",
    "MemoryStore",
    "StoreError",
    "build_memory_server",
    "render_transcript",
]
