"""The sizes that the grammar gives."""

from __future__ import annotations

from collections.abc import Iterator

from atr_data.english.words import has_phrase
from atr_datagen.source.compile import Compiled
from atr_datagen.source.document import Path
from atr_datagen.text import flat

NARRATIVE_WORDS = (120, 220)
ANSWER_WORDS = (1, 25)
OPENING_WORDS = (1, 10)
FACTS = (3, 8)
REFERENCES = (2, 6)
STEPS = (1, 5)
VOCAB_USES = 6
"""Rules and learning sessions, with an entry written out or not."""


def out_of_bounds(compiled: Compiled) -> Iterator[tuple[Path, str]]:
    """Texts of the wrong length, learning sessions with too few or many facts, objects or calls, and people
    and places that turn up all the time."""
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
    yield from _worn_out(compiled)


def _worn_out(compiled: Compiled) -> Iterator[tuple[Path, str]]:
    source = compiled.source
    blocks = [flat(block.model_dump()) for block in (*source.rules, *source.learning)]
    for key, text in source.vocab.items():
        uses = sum(has_phrase(text, block) for block in blocks)
        if uses > VOCAB_USES:
            yield (
                ("vocab", key),
                f"is used in {uses} rules and sessions; should be in {VOCAB_USES} at most",
            )


def _words(text: str) -> int:
    return len(text.split())


def _sized(path: Path, size: int, unit: str, bounds: tuple[int, int]) -> Iterator[tuple[Path, str]]:
    low, high = bounds
    if not low <= size <= high:
        yield path, f"has {size} {unit}; should have {low} to {high}"
