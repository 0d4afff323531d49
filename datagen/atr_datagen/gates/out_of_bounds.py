"""The sizes that the grammar gives."""

from __future__ import annotations

from collections.abc import Iterator

from atr_datagen.source.compile import Compiled
from atr_datagen.source.document import Path

NARRATIVE_WORDS = (120, 220)
ANSWER_WORDS = (1, 25)
OPENING_WORDS = (1, 10)
FACTS = (3, 8)
REFERENCES = (2, 6)
STEPS = (1, 5)


def out_of_bounds(compiled: Compiled) -> Iterator[tuple[Path, str]]:
    """Texts of the wrong length, and learning sessions with too few or many facts, objects or calls."""
    persona = compiled.source.persona
    yield from _sized(("persona", "narrative"), _words(persona.narrative), "words", NARRATIVE_WORDS)
    for face in (face for test in compiled.tests for face in test.faces):
        yield from _sized((*face.path, "answer"), _words(face.block.answer), "words", ANSWER_WORDS)
    for session in compiled.learning:
        block = session.block
        yield from _sized((*session.path, "open"), _words(block.open), "words", OPENING_WORDS)
        yield from _sized((*session.path, "know"), len(block.know), "facts", FACTS)
        yield from _sized((*session.path, "rows"), len(session.world.rows), "objects", REFERENCES)
        yield from _sized((*session.path, "steps"), len(block.steps), "calls", STEPS)


def _words(text: str) -> int:
    return len(text.split())


def _sized(path: Path, size: int, unit: str, bounds: tuple[int, int]) -> Iterator[tuple[Path, str]]:
    low, high = bounds
    if not low <= size <= high:
        yield path, f"has {size} {unit}; should have {low} to {high}"
