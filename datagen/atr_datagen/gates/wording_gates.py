"""The instruction says enough and no more (S3), and neither it nor an object betrays a face (F2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from atr_data.english.words import NUMBER_WORDS, has_phrase
from atr_datagen.source.document import Path
from atr_datagen.source.predicates import Predicate, items, plain
from atr_datagen.source.scenario import FaceScenario, TestScenario
from atr_datagen.text import flat, words
from atr_ontology import names_object

Failures = Iterator[tuple[Path, str]]
"""Where in the source, and what is wrong there."""

TELLING = 2
"""Content words that one face alone holds and that instruction or object may not share with it."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_STATED = re.compile(r"\$\s?\d[\d,]*(?:\.\d+)?|\d{4}-\d\d-\d\d|\b\d{1,2}:\d\d\b")


def limits_worded(test: TestScenario) -> Failures:
    """S3: the instruction words every `must`, and every limit that it words is one.

    Worded means: the value stands in the instruction, a number as digits or as a word up to twelve. Amounts
    of money, dates and clock times must belong to a `must`, a `target`, or what all candidates or the object
    acted on have. A text that only some of the candidates have must not stand in the instruction.
    """
    say, where = test.rule.test.say, (*test.path, "say")
    for index, predicate in enumerate(test.must):
        if not _worded(predicate, say):
            yield (*test.path, "must", index), f"the instruction does not say {plain(predicate.value)!r}"
    explained = _explained(test)
    for stated in _STATED.findall(say):
        amount = stated.lstrip("$ ").replace(",", "")
        money = stated.startswith("$")
        if not any(_equal(amount, value) if money else amount in value for value in explained):
            yield where, f"says {stated!r}, which is no must, no target and not common to all candidates"
    yield from ((where, reason) for reason in _told(test, say))


def _worded(predicate: Predicate, say: str) -> bool:
    value = predicate.value
    if isinstance(value, bool):
        return bool(words(predicate.field.replace("_", " ")) & words(say))
    if not isinstance(value, str):
        stated = {number.replace(",", "") for number in re.findall(r"\d[\d,]*(?:\.\d+)?", say)}
        word = NUMBER_WORDS[value] if isinstance(value, int) and 0 <= value < len(NUMBER_WORDS) else None
        return any(_equal(n, plain(value)) for n in stated) or (word is not None and has_phrase(word, say))
    pieces = value.replace("T", " ").split() if _DATE.match(value) else [value]
    return all(any(has_phrase(form, say) for form in _forms(piece)) for piece in pieces)


def _forms(text: str) -> set[str]:
    """How a text may be written: identifiers with blanks, clock times without seconds or leading zero."""
    short = re.sub(r"^(\d\d:\d\d):00$", r"\1", text)
    return {text, text.replace("_", " "), short, re.sub(r"^0(\d:)", r"\1", short)}


def _equal(a: str, b: str) -> bool:
    try:
        return float(a) == float(b)
    except ValueError:
        return False


def _explained(test: TestScenario) -> set[str]:
    rows = test.world.candidates()
    targets = [value for face in test.faces for value in face.target.values()]
    pinned: list[Mapping[str, Any]] = [
        face.required.arguments.get("target_params") or {} for face in test.faces
    ]
    acted_on = {item for value in targets for item in items(value)}
    acted_on |= {item for values in pinned for value in values.values() for item in items(value)}
    shown = [
        r.attributes for r in test.world.references if {r.id, *map(str, r.attributes.values())} & acted_on
    ]
    shared = [
        dict(item for item in rows[0].attributes.items() if all(item in r.attributes.items() for r in rows))
    ]
    values = [p.value for p in test.must] + targets
    values += [value for attributes in (*shown, *(shared if rows else [])) for value in attributes.values()]
    return {plain(item) for value in values for item in items(value)}


def _told(test: TestScenario, say: str) -> Iterator[str]:
    """Texts by which the instruction would tell candidates apart without saying so under `must`."""
    if test.rule.type != "param_id":
        return
    limited = {predicate.field for predicate in test.must}
    rows = test.world.candidates()
    for field in sorted({name for row in rows for name in row.attributes} - limited):
        values = [row.attributes.get(field) for row in rows]
        for value in dict.fromkeys(v for v in values if isinstance(v, str) and len(v) > 2):
            if values.count(value) < len(rows) and has_phrase(value, say):
                yield f"says {value!r}, the {field} of some candidates, which is no must"


def face_betrayed(test: TestScenario) -> Failures:
    """F2: the instruction, and the object that a closed choice acts on, lean towards no face.

    A face is betrayed by its value or its tool's words, and by content words that it alone of the faces has.
    """
    if len(test.faces) < 2:
        return
    told = [("the instruction", (*test.path, "say"), test.rule.test.say)]
    if test.rule.type != "param_id":
        told += [("the object acted on", test.path, flat(shown)) for shown in _acted_on(test)]
    own = [words(f"{face.block.text} {face.block.answer}") for face in test.faces]
    for what, where, text in told:
        said = words(text)
        for index, face in enumerate(test.faces):
            alone = own[index].difference(*(other for i, other in enumerate(own) if i != index))
            shared = sorted(alone & said)
            if len(shared) >= TELLING:
                yield where, f"{what} shares {', '.join(shared)} with face {face.block.key} alone"
            literal = _literal(face)
            if literal and _says(literal, text, tool=face.block.tool is not None):
                yield where, f"{what} says {literal!r}, which is face {face.block.key}"


def _literal(face: FaceScenario) -> str | None:
    choice = face.block.value or face.block.tool
    return choice.replace("_", " ") if choice else None


def _says(literal: str, text: str, *, tool: bool) -> bool:
    return words(literal) <= words(text) if tool else has_phrase(literal, text)


def _acted_on(test: TestScenario) -> list[Mapping[str, Any]]:
    """What can be read of the objects that a target names, under any face."""
    named = {str(key) for face in test.faces for value in face.target.values() for key in items(value)}
    return [
        {name: value for name, value in r.attributes.items() if not names_object(name)}
        for r in test.world.references
        if {r.id, *map(str, r.attributes.values())} & named
    ]
