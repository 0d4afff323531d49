"""Gates on learning sessions: every fact is used (S5), and none tells a rule (S6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from atr_data.english.words import MEASURES, has_phrase
from atr_datagen.source.compile import Compiled
from atr_datagen.source.document import Path
from atr_datagen.source.predicates import items, ordered, plain, same
from atr_datagen.source.scenario import LearningScenario
from atr_datagen.text import flat, words

Failures = Iterator[tuple[Path, str]]
"""Where in the source, and what is wrong there."""


def facts_used(session: LearningScenario) -> Failures:
    """S5: every fact is an argument, is matched by an attribute of the object acted on, or picks the tool.

    A fact named `x_limit` is used when the attribute `x` is bounded by it. A fact that is text is also used
    when any attribute of that object says the same. A fact picks the tool when its name shares a word with a
    tool of the path (`send_now`).
    """
    used = set[str]().union(*(step.facts for step in session.steps))
    named = set[str]().union(*(step.keys for step in session.steps))
    rows = [row for row in session.world.rows if row.names & named] or list(session.world.rows)
    tools = {MEASURES.stem(part) for step in session.steps for part in step.gold.tool.split("_")}
    for name, value in session.know.items():
        picks = isinstance(value, bool) or plain(value).lower() in ("yes", "no")
        if name in used or (picks and {MEASURES.stem(part) for part in name.split("_")} & tools):
            continue
        if not any(_matches(name, value, row.attributes) for row in rows):
            yield (
                (*session.path, "know", name),
                "is no argument and matches no attribute of the object acted on",
            )


def _matches(name: str, value: Any, attributes: Mapping[str, Any]) -> bool:
    if name.endswith("_limit"):
        actual = attributes.get(name.removesuffix("_limit"))
        return ordered(actual, value) or ordered(value, actual)
    if name in attributes and _agree(value, attributes[name]):
        return True
    return isinstance(value, str) and any(_agree(value, actual) for actual in attributes.values())


def _agree(value: Any, actual: Any) -> bool:
    return any(same(a, b) or _part(a, b) for a in items(value) for b in items(actual))


def _part(value: Any, actual: Any) -> bool:
    """A date matches the time on that day; a text matches one that holds it."""
    return isinstance(value, str) and isinstance(actual, str) and has_phrase(value, actual.replace("T", " "))


def rule_not_told(session: LearningScenario, compiled: Compiled) -> Failures:
    """S6: neither the opening nor a fact holds three content words of a rule of the persona."""
    name = words(compiled.source.persona.name)
    texts = {("open",): session.block.open, **{("know", k): flat(v) for k, v in session.know.items()}}
    for key, text in texts.items():
        said = words(text) - name
        for test in compiled.tests:
            for face in test.faces:
                shared = max((words(s) & said for s in (face.block.text, face.block.answer)), key=len)
                if len(shared) >= 3:
                    rule = f"rule {test.rule.key}, face {face.block.key}"
                    yield (*session.path, *key), f"shares {', '.join(sorted(shared))} with {rule}"
