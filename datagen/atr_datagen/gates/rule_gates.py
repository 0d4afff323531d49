"""Gates on rules: the blind choice (S4), confirmation siblings (F4), the question lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from atr_data.english.words import has_phrase
from atr_datagen.source.compile import Compiled
from atr_datagen.source.document import Path
from atr_datagen.source.grammar import ASKED, NOT_ASKED, TERMS, RuleBlock
from atr_datagen.source.predicates import items
from atr_datagen.source.scenario import TestScenario
from atr_ontology import load_ontology

Failures = Iterator[tuple[Path, str]]
"""Where in the source, and what is wrong there."""


def blind_differs(test: TestScenario) -> Failures:
    """S4: the blind choice is a real one, and rival tools answer the same kind of request."""
    rule = test.rule
    if rule.type != "tool_identity":
        return
    tools = {*rule.tools, *([rule.blind_choice] if rule.blind_choice else [])}
    if not any(tools <= set(row) for row in load_ontology().rivals):
        yield (*test.path[:-1], "faces"), f"{', '.join(sorted(tools))} are no rivals of each other"


def sibling_pinned(test: TestScenario, compiled: Compiled) -> Failures:
    """F4: the instruction of a confirm rule's sibling fixes its object and values just as fully.

    Both name the same parameters of the tool, the sibling's own choice left out, and the same of them by the
    object's name in the instruction.
    """
    if test.rule.type != "confirm":
        return
    other = next((t for t in compiled.tests if t.rule.key == test.rule.sibling), None)
    if other is None:
        return
    where = (*test.path[:-1], "sibling")
    tool = test.rule.tools[0]
    mine, theirs = _pinned(test, tool), _pinned(other, tool)
    chosen = {other.rule.parameter} if other.rule.type in ("param_id", "param_enum") else set[str | None]()
    less = sorted(name for name in mine if name not in theirs and name not in chosen)
    more = sorted(name for name in theirs if name not in mine)
    if less:
        yield where, f"{other.rule.key} leaves {', '.join(less)} open, which this rule fixes"
    if more:
        yield where, f"{other.rule.key} fixes {', '.join(more)}, which this rule leaves open"
    if other.rule.type == "param_id" and other.rule.parameter in mine:
        yield where, f"{other.rule.key} chooses the object, which this rule names; bind another type of rule"
    for name in sorted(mine.keys() & theirs.keys()):
        if mine[name] != theirs[name]:
            which = test.rule.key if mine[name] else other.rule.key
            yield where, f"only the instruction of {which} says which {name} is meant by name"


def _pinned(test: TestScenario, tool: str) -> Mapping[str, bool]:
    """The parameters of a tool that a test fixes, and whether the instruction names the object."""
    face = next((face for face in test.faces if face.block.tool == tool), test.faces[0])
    pinned: Mapping[str, Any] = face.required.arguments.get("target_params") or {}
    fixed: Mapping[str, Any] = {**face.target, **pinned}
    return {name: any(_named(str(item), test) for item in items(value)) for name, value in fixed.items()}


def _named(value: str, test: TestScenario) -> bool:
    for reference in test.world.references:
        if value in (reference.id, *map(str, reference.attributes.values())):
            called = (reference.attributes.get(key) for key in ("name", "title", "subject"))
            return any(has_phrase(str(text), test.rule.test.say) for text in called if text)
    return False


def questions_written(rule: RuleBlock, index: int) -> Failures:
    """Question lines of two hands, no line twice, and word lists of 10 to 30 terms."""
    path: Path = ("rules", index)
    seen: dict[str, str] = {}
    for key, least in (("asked", ASKED), ("not_asked", NOT_ASKED)):
        hands = rule.asked if key == "asked" else rule.not_asked
        for hand, lines in (("a", hands.a), ("b", hands.b)):
            if len(lines) < least:
                yield (*path, key), f"hand {hand} has {len(lines)} lines; at least {least} are needed"
            for line in lines:
                told = line.strip().lower()
                if told in seen:
                    yield (*path, key), f"{line!r} stands under {seen[told]} too"
                seen[told] = f"{key} {hand}"
    about = rule.about
    lists: Mapping[str, Sequence[str]] = about.model_dump()
    for name, terms in lists.items():
        low, high = TERMS
        if not low <= len(terms) <= high and not (name == "narrow" and not terms):
            yield (*path, "about", name), f"has {len(terms)} terms; should have {low} to {high}"
