"""Shuffled tests without keys, with or without the rule, and learning sessions without their paths.

An item is called by a hash of what it shows, so that answers stay valid for items that have not changed, and
the key need not be kept: it follows from the sources.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Literal

from atr_data.episode import Reference
from atr_datagen.gates.calls import addressed
from atr_datagen.source.compile import Compiled
from atr_datagen.source.predicates import items, plain
from atr_datagen.source.scenario import FaceScenario, LearningScenario, TestScenario
from atr_datagen.validity.corpus import rivals
from atr_ontology import load_ontology, names_object

Kind = Literal["tests", "tests-with-rules", "learning"]
KINDS: tuple[Kind, ...] = ("tests", "tests-with-rules", "learning")


@dataclass(frozen=True, slots=True)
class Item:
    """`options` are what the letters stand for. `right` are the ones that pass, `blind` the ones that a
    rule-blind agent takes; for a rule on confirming, `confirms` says that the answer must ask first too."""

    code: str
    text: str
    options: Sequence[str]
    right: frozenset[str]
    blind: frozenset[str]
    check_type: str
    faces: int
    blind_is_face: bool = False
    confirms: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    kind: Kind
    items: Sequence[Item]

    def text(self) -> str:
        parts = [_HEAD[self.kind], *(f"[{item.code}]\n{item.text}" for item in self.items)]
        return "\n\n".join(parts) + "\n"


_ANSWERS = """\
Answer in a YAML file of this form, one line for each item, letters as printed:

  sheet: {kind}
  reader: what you are, in a few words
  manner: {manner}
  answers:
    0a1b2c: B
"""
_CHOOSE = """\
Each item is a request of somebody to an assistant, the objects that it finds, and one call with an open
place. Pick the option that you would take. Where you would ask the person to approve the call before it is
made, write the letter and `confirm`, as in `0a1b2c: B confirm`."""
_HEAD = {
    "tests": f"{_CHOOSE}\n\n{_ANSWERS.format(kind='tests', manner='natural  # or hostile')}",
    "tests-with-rules": (
        f"{_CHOOSE} Each item says what the person once told about such things; go by it.\n\n"
        f"{_ANSWERS.format(kind='tests-with-rules', manner='natural')}"
    ),
    "learning": (
        "Each item is how a call begins and what the caller says when asked. Pick the tool that will act.\n\n"
        f"{_ANSWERS.format(kind='learning', manner='natural')}"
    ),
}


def make_sheet(compiled: Sequence[Compiled], kind: Kind, rule: str | None = None) -> Sheet:
    """All tests or learning sessions of the personas, or those of the rule with that key."""
    found: list[Item] = []
    for c in compiled:
        if kind == "learning":
            own = (s for s in c.learning if rule is None or s.block.subject == rule)
            found += [_session(session) for session in own]
        else:
            tests = (test for test in c.tests if rule is None or test.rule.key == rule)
            told = kind == "tests-with-rules"
            found += [_test(test, test.faces[c.shown[test.rule_id]], told=told) for test in tests]
    return Sheet(kind, sorted(found, key=lambda item: item.code))


def _test(test: TestScenario, face: FaceScenario, *, told: bool) -> Item:
    call, options, right, blind = _choice(test, face)
    lines = [f"Request: {test.rule.test.say}"]
    if told:
        lines.append(f"They once said: {face.block.answer}")
    listed = {reference.id for _, reference in options if reference}
    others = [r for r in test.world.references if r.id not in listed]
    lines += [f"Also found: {_shown(reference)}" for reference in others]
    order = sorted(options, key=lambda option: _hash(test.rule_id, option[0]))
    lines.append(call)
    for letter, (value, reference) in zip(ascii_uppercase, order, strict=False):
        lines.append(f"  {letter}) {_shown(reference) if reference else value}")
    text = "\n".join(lines)
    return Item(
        code=_hash(text)[:6],
        text=text,
        options=[value for value, _ in order],
        right=right,
        blind=blind,
        check_type=test.rule.type,
        faces=len(test.faces),
        blind_is_face=any(test.rule.choice(f.block) in blind for f in test.faces),
        confirms=test.rule.type == "confirm",
    )


_Options = list[tuple[str, Reference | None]]


def _choice(test: TestScenario, face: FaceScenario) -> tuple[str, _Options, frozenset[str], frozenset[str]]:
    """The open call, what may stand in it, what is right there and what a rule-blind agent takes.

    A rule on confirming looks like one on objects: its open place is the object that the request names.
    """
    rule, required = test.rule, face.required
    match rule.type:
        case "param_id":
            name = str(rule.parameter)
            golds = frozenset(str(gold) for gold in items(required.arguments[name]))
            options = _objects(test, name, set(golds))
            pulls = {test.world.ids[row.key] for row in test.world.candidates() if row.tag == "pull"}
            blind = frozenset(value for value, r in options if r and r.id in pulls)
            return f"Call: {required.tool}({name}=?)", options, golds, blind
        case "param_enum":
            name = str(rule.parameter)
            tool = load_ontology().tool(required.tool)
            parameter = tool.parameter(name) if tool else None
            values: _Options = [(value, None) for value in (parameter.enum if parameter else ())]
            gold, blind = str(face.block.value), str(rule.blind_choice)
            return f"Call: {required.tool}({name}=?)", values, frozenset({gold}), frozenset({blind})
        case "tool_identity":
            row: _Options = [(tool, None) for tool in rivals(required.tool)]
            return "Call: ?", row, frozenset({required.tool}), frozenset({str(rule.blind_choice)})
        case "confirm":
            return _confirmed(test, face)


def _confirmed(
    test: TestScenario, face: FaceScenario
) -> tuple[str, _Options, frozenset[str], frozenset[str]]:
    tool = test.rule.tools[0]
    pinned: dict[str, Any] = face.required.arguments.get("target_params") or {}
    named = {**face.target, **pinned}
    for name in named:
        if name in load_ontology().object_parameters(test.rule.domain):
            ids = {str(value) for value in items(named[name])}
            options = _objects(test, name, ids)
            right = frozenset(ids) if name in pinned else frozenset(value for value, _ in options)
            return f"Call: {tool}({name}=?)", options, right, frozenset(ids)
    only: _Options = [("as requested", None)]
    return f"Call: {tool}(?)", only, frozenset({"as requested"}), frozenset({"as requested"})


def _objects(test: TestScenario, parameter: str, golds: set[str]) -> _Options:
    """The objects of the golds' type that the parameter can name."""
    domain = test.rule.domain
    found = [(addressed(r, parameter, domain), r) for r in test.world.references]
    kinds = {reference.type for value, reference in found if value in golds}
    return [(value, reference) for value, reference in found if value is not None and reference.type in kinds]


def _shown(reference: Reference) -> str:
    visible = ((k, v) for k, v in reference.attributes.items() if not names_object(k))
    return f"{reference.type}: " + "; ".join(f"{k} {', '.join(map(plain, items(v)))}" for k, v in visible)


def _session(session: LearningScenario) -> Item:
    """Right is the family of any tool by which the path acts."""
    path = {step.gold.tool for step in session.steps}
    tools = load_ontology().domain(session.block.domain).tools
    acting = [tool.name for tool in tools if tool.kind == "write" or path == {tool.name}]
    facts = [f"  {name.replace('_', ' ')}: {_fact(value)}" for name, value in session.block.know.items()]
    lines = [f"Opening: {session.block.open}", "Told when asked:", *facts]
    order = sorted(acting, key=lambda name: _hash(session.session_id, name))
    lines += [f"  {letter}) {name}" for letter, name in zip(ascii_uppercase, order, strict=False)]
    text = "\n".join(lines)
    wanted = {name for name in acting if path & set(rivals(name))}
    return Item(_hash(text)[:6], text, order, frozenset(wanted), frozenset(), "learning", 1)


def _fact(value: Any) -> str:
    return ", ".join(plain(item).removeprefix("#") for item in items(value))


def _hash(*parts: str) -> str:
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


def letters_of(item: Item) -> Iterator[tuple[str, str]]:
    yield from zip(ascii_uppercase, item.options, strict=False)
