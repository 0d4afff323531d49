"""Gates on learning sessions by the side of the trigger on which they lie.

Half of the direct sessions are inside the trigger of their rule. There they show no face and contradict none;
those of a tool_identity rule show every face's tool equally often instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from atr_data.constants import CONFIRMATION
from atr_data.english.words import has_phrase
from atr_data.episode import GoldStep
from atr_datagen.plan.sides import INSIDE, OUTSIDE, uneven
from atr_datagen.source.compile import Compiled
from atr_datagen.source.document import Path
from atr_datagen.source.grammar import RuleBlock
from atr_datagen.source.predicates import holds, plain
from atr_datagen.source.scenario import LearningScenario, TestScenario
from atr_datagen.text import flat

Failures = Iterator[tuple[Path, str]]
"""Where in the source, and what is wrong there."""

_NOTHING = frozenset({"none", "no", "0"})
"""Values that say that there is nothing; elsewhere they say it of something else."""


def sides_even(compiled: Compiled) -> Failures:
    """As many direct sessions inside their triggers as outside, and a rule's sessions all on one side."""
    direct = [session.block for session in compiled.learning if session.block.role == "direct"]
    sides = Counter(block.where for block in direct if block.where)
    if abs(sides[INSIDE] - sides[OUTSIDE]) > 1:
        yield ("learning",), f"has {uneven({side: sides[side] for side in (INSIDE, OUTSIDE)})}"
    where = {block.subject: block.where for block in direct}
    for session in compiled.learning:
        wanted = where.get(session.block.subject, session.block.where)
        if session.block.where != wanted:
            yield (*session.path, "where"), f"should be {wanted}, as in the direct session of the rule"


def no_face_inside(session: LearningScenario, compiled: Compiled) -> Failures:
    """A direct session inside the trigger chooses nothing on the rule's dimension and tells no face of it."""
    if session.block.where != INSIDE or session.block.role != "direct":
        return
    test = next((test for test in compiled.tests if test.rule.key == session.block.subject), None)
    if test is None:
        return
    match test.rule.type:
        case "param_id":
            yield from _object(session, test)
        case "param_enum":
            yield from _value(session, test.rule)
        case "tool_identity":
            yield from _tools(session, test.rule, compiled)
        case "confirm":
            yield from _confirmed(session, test.rule)


def _object(session: LearningScenario, test: TestScenario) -> Failures:
    """No object that a face would pick is chosen, and none of the texts that faces decide by is told."""
    tool, parameter = test.rule.tools[0], str(test.rule.parameter)
    for index, step in enumerate(session.steps):
        if step.gold.tool != tool or parameter not in step.gold.arguments:
            continue
        for row in (row for row in session.world.rows if row.names & step.keys):
            for face in test.faces:
                if holds(face.rule_is, row.attributes):
                    fields = ", ".join(dict.fromkeys(p.field for p in face.rule_is))
                    yield (
                        (*session.path, "steps", index),
                        f"chooses {row.key}, whose {fields} is what face {face.block.key} goes by; inside "
                        f"the trigger no object should say it",
                    )
    for face in test.faces:
        for predicate in face.rule_is:
            value = plain(predicate.value)
            if isinstance(predicate.value, str) and value.lower() not in _NOTHING:
                yield from _told(session, value, f"which face {face.block.key} goes by")


def _value(session: LearningScenario, rule: RuleBlock) -> Failures:
    """The bound parameter is given no face's value, at once or by a later change, and no fact tells one."""
    faces = {face.value: face.key for face in rule.faces}
    for index, step in enumerate(session.steps):
        for value in _set(step.gold, rule):
            if value in faces:
                yield (
                    (*session.path, "steps", index),
                    f"sets {rule.parameter} to {value}, which is face {faces[value]}; inside the trigger "
                    f"give it a value of no face, or leave it out",
                )
    for value, key in faces.items():
        phrase = str(value).replace("_", " ")
        if has_phrase(phrase, session.block.open):
            yield (*session.path, "open"), f"says {phrase!r}, which is face {key}"
    for name, fact in session.know.items():
        if isinstance(fact, str) and fact in faces:
            yield (*session.path, "know", name), f"tells {fact}, which is face {faces[fact]}"


def _set(call: GoldStep, rule: RuleBlock) -> Iterator[Any]:
    """What a call makes of the bound parameter: as its own argument, or as the new value of that field."""
    if call.tool == rule.tools[0] and rule.parameter in call.arguments:
        yield call.arguments[rule.parameter]
    if call.arguments.get("field") == rule.parameter:
        yield call.arguments.get("new_value")


def _tools(session: LearningScenario, rule: RuleBlock, compiled: Compiled) -> Failures:
    """The tools of all faces are called in equally many sessions of the rule."""
    own = [other for other in compiled.learning if other.block.subject == rule.key]
    found = Counter(tool for other in own for tool in {step.gold.tool for step in other.steps})
    if len({found[tool] for tool in rule.tools}) > 1:
        shown = ", ".join(f"{face.tool} (face {face.key}) in {found[str(face.tool)]}" for face in rule.faces)
        yield (
            session.path,
            f"of the sessions for {rule.key}, inside its trigger, {shown} call it; every face's tool should "
            f"be shown in equally many, the others in near sessions for {rule.key}, or none",
        )


def _confirmed(session: LearningScenario, rule: RuleBlock) -> Failures:
    tool = rule.tools[0]
    for index, step in enumerate(session.steps):
        asked = step.gold.tool == CONFIRMATION and step.gold.arguments.get("target_tool") == tool
        if asked or step.gold.tool == tool:
            does = "asks about" if asked else "calls"
            yield (
                (*session.path, "steps", index),
                f"{does} {tool}, which shows or breaks the rule inside its trigger; leave the call out, or "
                f"take the session outside",
            )


def _told(session: LearningScenario, phrase: str, why: str) -> Failures:
    texts = {("open",): session.block.open, **{("know", k): flat(v) for k, v in session.know.items()}}
    for key, text in texts.items():
        if has_phrase(phrase, text):
            yield (*session.path, *key), f"says {phrase!r}, {why}"
