"""What must fit together in the headers of rules and learning sessions before anything can be compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from atr_datagen.source.document import Path, nearest
from atr_datagen.source.face_checks import face_problems, pair_problems
from atr_datagen.source.grammar import LearningBlock, PersonaBlock, RuleBlock
from atr_datagen.source.reading import Placed, Problems, SourceFile
from atr_datagen.source.scenario import domain_tool
from atr_ontology import DOMAINS, Parameter, Tool


def check_headers(file: SourceFile, problems: Problems) -> tuple[set[int], set[int]]:
    """Reports repeated keys, unknown domains and tools, and keys that the type of a rule lacks or forbids.

    Returns the places of the rules and of the learning sessions whose headers are sound.
    """
    rules = [placed.block for placed in file.rules]
    for key, count in Counter(rule.key for rule in rules).items():
        if count > 1:
            problems.add(("rules",), f"key {key!r} stands {count} times")
    sound: set[int] = set()
    for placed in file.rules:
        path: Path = ("rules", placed.index)
        found = list(_rule(placed.block, rules, file.unread))
        for key, reason in found:
            problems.add((*path, key), reason)
        # The faces tell of the same tool or parameter; without it they say nothing more.
        told = any(key in ("domain", "bind") for key, _ in found)
        faults: list[tuple[Path, str]] = []
        for where, reason in () if told else face_problems(placed.block):
            faults.append(((*path, *where), reason))
        for where, reason in faults:
            problems.add(where, reason)
        if not found and not faults:
            sound.add(placed.index)
    for index, reason in pair_problems(file.rules, file.unread):
        problems.add(("rules", index, "pair"), reason)
    return sound, _sessions(file, rules, problems)


def check_persona(persona: PersonaBlock, name: str, problems: Problems) -> None:
    if name != persona.id:
        problems.add(("persona", "id"), f"should be the name of the file; is {persona.id!r}")
    for key, value in persona.facts.items():
        if isinstance(value, list | dict) or value is None:
            problems.add(("persona", "facts", key), "should be one value, text or number")


def _sessions(file: SourceFile, rules: Sequence[RuleBlock], problems: Problems) -> set[int]:
    day, sound = -1, set[int]()
    for placed in file.learning:
        path: Path = ("learning", placed.index)
        found = list(_session(placed, rules, file.unread))
        for key, reason in found:
            problems.add((*path, key), reason)
        if placed.block.day <= day:
            reason = f"should be after day {day} of the session before; is {placed.block.day}"
            problems.add((*path, "day"), reason)
        day = placed.block.day
        if not found:
            sound.add(placed.index)
    return sound


def _rule(rule: RuleBlock, rules: Sequence[RuleBlock], unread: frozenset[str]) -> Iterator[tuple[str, str]]:
    yield from _presence(rule)
    if rule.domain not in DOMAINS:
        yield "domain", f"no domain {rule.domain!r}; {nearest(rule.domain, DOMAINS)}"
        return
    if rule.type == "tool_identity" or rule.bind is None:
        yield from _sibling(rule, rules, unread)
        return
    try:
        tool = domain_tool(rule.domain, rule.tools[0])
    except ValueError as error:
        yield "bind", str(error)
        return
    parameter = tool.parameter(rule.parameter) if rule.parameter else None
    if rule.parameter and parameter is None:
        yield "bind", f"{tool.name} has no {rule.parameter!r}; {nearest(rule.parameter, _names(tool))}"
        return
    yield from _bound(rule, parameter)
    yield from _sibling(rule, rules, unread)


_NEEDS = {
    "param_id": ("bind",),
    "param_enum": ("bind", "blind"),
    "tool_identity": ("blind",),
    "confirm": ("bind", "sibling"),
}


def _presence(rule: RuleBlock) -> Iterator[tuple[str, str]]:
    needed = _NEEDS[rule.type]
    for key in ("bind", "blind", "sibling"):
        value = getattr(rule, key)
        if key in needed and value is None:
            yield key, f"is missing; a {rule.type} rule needs it"
        elif key not in needed and value is not None:
            yield key, f"does not belong to a {rule.type} rule"
    if rule.pin is not None and rule.type != "confirm":
        yield "pin", f"does not belong to a {rule.type} rule"
    if rule.pair is not None and rule.type == "confirm":
        yield "pair", "does not belong to a confirm rule, which has one face"
    if rule.type == "param_id" and not rule.test.pulls:
        yield "test", "needs pulls; the rule is param_id"


def _bound(rule: RuleBlock, parameter: Parameter | None) -> Iterator[tuple[str, str]]:
    match rule.type:
        case "param_id":
            if parameter is None or not parameter.names_object:
                yield "bind", "should be tool.parameter, where the parameter takes an id"
        case "param_enum":
            if parameter is None or not parameter.enum:
                yield "bind", "should be tool.parameter, where the parameter has an enum"
        case _:
            if parameter is not None:
                yield "bind", f"should be a tool alone; the rule is {rule.type}"


def _sibling(
    rule: RuleBlock, rules: Sequence[RuleBlock], unread: frozenset[str]
) -> Iterator[tuple[str, str]]:
    if rule.type != "confirm" or rule.sibling is None or rule.sibling in unread:
        return
    tool = rule.tools[0]
    fitting = [r.key for r in rules if tool in r.tools and r.type != "confirm"]
    if rule.sibling not in fitting:
        yield (
            "sibling",
            f"should be the key of a rule on {tool} that asks for no confirmation; "
            f"{nearest(rule.sibling, fitting)}",
        )


def _session(
    placed: Placed[LearningBlock], rules: Sequence[RuleBlock], unread: frozenset[str]
) -> Iterator[tuple[str, str]]:
    session = placed.block
    if session.domain not in DOMAINS or not session.family.partition(".")[2]:
        yield "family", f"should be domain.what_happens; is {session.family!r}"
        return
    rule = next((rule for rule in rules if rule.key == session.subject), None)
    known = rule is not None or session.subject in unread
    if session.role == "direct" and not known:
        yield "for", f"no rule {session.subject!r}; {nearest(session.subject, (r.key for r in rules))}"
    elif session.role == "far" and session.subject != session.domain:
        yield "for", f"should be the domain {session.domain!r} for role far; is {session.subject!r}"
    elif session.role == "near" and session.subject != session.domain and not _shows_rival(rule, known):
        yield (
            "for",
            f"should be the domain {session.domain!r} for role near, or the tool_identity rule of which "
            f"another tool is shown; is {session.subject!r}",
        )
    if rule is not None and rule.domain != session.domain:
        yield "family", f"should start with {rule.domain}, the domain of rule {rule.key}"
    if session.where is not None and session.subject == session.domain:
        yield "where", "does not belong to a session that is no rule's"


def _shows_rival(rule: RuleBlock | None, known: bool) -> bool:
    return known and (rule is None or rule.type == "tool_identity")


def _names(tool: Tool) -> list[str]:
    return [parameter.name for parameter in tool.parameters]
