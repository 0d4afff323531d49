"""Gates on sources: the rule decides (S1, S2), the instruction says enough and no more (S3), S4 to S6."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from atr_data.english.words import MEASURES, NUMBER_WORDS, has_phrase
from atr_datagen.source.compile import Compiled
from atr_datagen.source.document import Path
from atr_datagen.source.predicates import Predicate, beats, holds, items, ordered, plain, same
from atr_datagen.source.scenario import LearningScenario, TestScenario
from atr_datagen.source.world import Row
from atr_datagen.text import flat, words

Failures = Iterator[tuple[Path, str]]
"""Where in the source, and what is wrong there."""


def oracle_unique(test: TestScenario) -> Failures:
    """S1: of the objects of the gold's type exactly the golds meet the limits and the rule.

    The mirror face of a rule, where it has one, must single out as many, and other ones.
    """
    golds = [row.key for row in test.golds]
    found = [row.key for row in test.world.candidates() if holds((*test.must, *test.rule_is), row.attributes)]
    if found != golds:
        yield (*test.path, "rule_is"), f"limits and rule are met by {_list(found)}; gold is {_list(golds)}"
    if test.mirror_is:
        other = [r.key for r in test.world.candidates() if holds((*test.must, *test.mirror_is), r.attributes)]
        if len(other) != len(golds) or set(other) & set(golds):
            where = (*test.path[:-1], "mirror", "rule_is")
            yield (
                where,
                f"limits and mirrored rule are met by {_list(other)}; should be {len(golds)} other than gold",
            )


def tags_proven(test: TestScenario) -> Failures:
    """S2: every tag is what its predicates say, and pull, near and limit are all there."""
    rows = test.world.candidates()
    tags = Counter(row.tag for row in rows)
    for tag in ("pull", "near", "limit"):
        if not tags[tag]:
            yield (*test.path, "rows"), f"no row is tagged {tag}"
    if tags["off"] > 1:
        yield (*test.path, "rows"), f"{tags['off']} rows are tagged off; at most one may be"
    for row in rows:
        for reason in _tag_problems(row, test):
            yield row.path, f"{row.key} is tagged {row.tag}, but {reason}"


def tempting(test: TestScenario) -> Failures:
    """S2 of a second face: another row meets every limit and beats the golds on all pull fields."""
    if not any(row.tag == "pull" for row in test.world.candidates()):
        where = (*test.path[:-1], "mirror", "rule_is")
        fields = _list(list(test.rule.test.pulls))
        yield where, f"singles out what is best on {fields} within the limits; another face is needed"


def _tag_problems(row: Row, test: TestScenario) -> Iterator[str]:
    broken = [str(p) for p in test.must if not p(row.attributes)]
    missed = [str(p) for p in test.rule_is if not p(row.attributes)]
    match row.tag:
        case "off":
            return
        case None:
            yield "every candidate needs a tag"
        case "limit":
            if len(broken) != 1:
                yield f"breaks {len(broken)} limits ({_list(broken)}); should break exactly one"
            if missed:
                yield f"breaks the rule ({_list(missed)})"
        case _ if broken:
            yield f"breaks a limit ({_list(broken)})"
        case "gold" if missed:
            yield f"breaks the rule ({_list(missed)})"
        case "pull" | "near" if not missed:
            yield "meets the rule"
        case "near" if len(test.rule_is) > 1 and len(missed) != 1:
            yield f"misses {len(missed)} parts of the rule ({_list(missed)}); should miss exactly one"
        case "pull":
            for field, side in test.rule.test.pulls.items():
                if not all(beats(row.attributes, gold.attributes, field, side) for gold in test.golds):
                    yield f"does not beat gold on {field} ({side})"
        case _:
            return


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
    acted_on = {key for value in test.target.values() for key in items(value)}
    pinned: dict[str, Any] = test.required.arguments.get("target_params", {})
    acted_on |= {key for value in pinned.values() for key in items(value)}
    shown = [
        r.attributes for r in test.world.references if {r.id, *map(str, r.attributes.values())} & acted_on
    ]
    shared = [
        dict(item for item in rows[0].attributes.items() if all(item in r.attributes.items() for r in rows))
    ]
    values = [p.value for p in test.must] + list(test.target.values())
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


def blind_differs(test: TestScenario) -> Failures:
    """S4: what a rule-blind agent does is not what the rule asks for."""
    rule = test.rule
    gold = {"param_enum": rule.gold, "tool_identity": rule.tool}.get(rule.type)
    if gold is not None and rule.blind == gold:
        yield (*test.path[:-1], "blind"), f"is the gold, {gold!r}"


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
            shared = max((words(s) & said for s in (test.rule.text, test.rule.answer)), key=len)
            if len(shared) >= 3:
                yield (*session.path, *key), f"shares {_list(sorted(shared))} with rule {test.rule.key}"


def _list(names: list[str]) -> str:
    return ", ".join(names) or "none"
