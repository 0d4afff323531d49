"""What must fit together in the headers of rules and learning sessions before anything can be compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from atr_datagen.source.document import Path, nearest
from atr_datagen.source.grammar import LearningBlock, Problems, RuleBlock, Source
from atr_datagen.source.mirror import mirror_problems
from atr_datagen.source.scenario import domain_tool
from atr_ontology import DOMAINS, Parameter, Tool


def check_headers(source: Source, problems: Problems) -> None:
    """Reports repeated keys, unknown domains and tools, and keys that the type of a rule lacks or forbids."""
    for key, count in Counter(rule.key for rule in source.rules).items():
        if count > 1:
            problems.add(("rules",), f"key {key!r} stands {count} times")
    for index, rule in enumerate(source.rules):
        path: Path = ("rules", index)
        found = list(_rule(rule, source))
        for key, reason in found:
            problems.add((*path, key), reason)
        for key, reason in () if found else mirror_problems(rule):
            problems.add((*path, "mirror", *([key] if key else [])), reason)
    day = -1
    for index, session in enumerate(source.learning):
        path = ("learning", index)
        for key, reason in _session(session, source):
            problems.add((*path, key), reason)
        if session.day <= day:
            problems.add((*path, "day"), f"should be after day {day} of the session before; is {session.day}")
        day = session.day
    for key, value in source.persona.facts.items():
        if isinstance(value, list | dict) or value is None:
            problems.add(("persona", "facts", key), "should be one value, text or number")


def _rule(rule: RuleBlock, source: Source) -> Iterator[tuple[str, str]]:
    if rule.domain not in DOMAINS:
        yield "domain", f"no domain {rule.domain!r}; {nearest(rule.domain, DOMAINS)}"
        return
    try:
        tool = domain_tool(rule.domain, rule.tool)
    except ValueError as error:
        yield "bind", str(error)
        return
    parameter = tool.parameter(rule.parameter) if rule.parameter else None
    if rule.parameter and parameter is None:
        yield "bind", f"{tool.name} has no {rule.parameter!r}; {nearest(rule.parameter, _names(tool))}"
        return
    yield from _presence(rule)
    yield from _typed(rule, tool, parameter, source)


_NEEDS = {
    "param_id": (),
    "param_enum": ("gold", "blind"),
    "tool_identity": ("blind",),
    "confirm": ("blind", "sibling"),
}


def _presence(rule: RuleBlock) -> Iterator[tuple[str, str]]:
    needed = _NEEDS[rule.type]
    for key in ("gold", "blind", "sibling"):
        value = getattr(rule, key)
        if key in needed and value is None:
            yield key, f"is missing; a {rule.type} rule needs it"
        elif key not in needed and value is not None:
            yield key, f"does not belong to a {rule.type} rule"
    if rule.pin is not None and rule.type != "confirm":
        yield "pin", f"does not belong to a {rule.type} rule"


def _typed(
    rule: RuleBlock, tool: Tool, parameter: Parameter | None, source: Source
) -> Iterator[tuple[str, str]]:
    match rule.type:
        case "param_id":
            if parameter is None or not parameter.names_object:
                yield "bind", "should be tool.parameter, where the parameter takes an id"
            if not rule.test.rule_is or not rule.test.pulls:
                yield "test", "needs rule_is and pulls; the rule is param_id"
        case "param_enum":
            if parameter is None or not parameter.enum:
                yield "bind", "should be tool.parameter, where the parameter has an enum"
                return
            for key in ("gold", "blind"):
                value = getattr(rule, key)
                if value is not None and value not in parameter.enum:
                    yield key, f"{parameter.name} has no value {value!r}; one of: {', '.join(parameter.enum)}"
        case "tool_identity" | "confirm":
            if parameter is not None:
                yield "bind", f"should be a tool alone; the rule is {rule.type}"
            yield from _tools(rule, tool, source)


def _tools(rule: RuleBlock, tool: Tool, source: Source) -> Iterator[tuple[str, str]]:
    if rule.type == "tool_identity" and rule.blind is not None:
        try:
            domain_tool(rule.domain, rule.blind)
        except ValueError as error:
            yield "blind", str(error)
    if rule.type == "confirm":
        if rule.blind not in (None, tool.name):
            yield "blind", f"should be {tool.name}, the tool itself; is {rule.blind!r}"
        other = source.rule(rule.sibling)
        if rule.sibling is not None and (other is None or other is rule or other.tool != tool.name):
            same = [r.key for r in source.rules if r.tool == tool.name and r is not rule]
            yield (
                "sibling",
                f"should be the key of another rule on {tool.name}; {nearest(rule.sibling, same)}",
            )


def _session(session: LearningBlock, source: Source) -> Iterator[tuple[str, str]]:
    if session.domain not in DOMAINS or not session.family.partition(".")[2]:
        yield "family", f"should be domain.what_happens; is {session.family!r}"
        return
    if session.role == "direct":
        rule = source.rule(session.subject)
        if rule is None:
            yield (
                "for",
                f"no rule {session.subject!r}; {nearest(session.subject, (r.key for r in source.rules))}",
            )
        elif rule.domain != session.domain:
            yield "family", f"should start with {rule.domain}, the domain of rule {rule.key}"
    elif session.subject != session.domain:
        yield (
            "for",
            f"should be the domain {session.domain!r} for role {session.role}; is {session.subject!r}",
        )


def _names(tool: Tool) -> list[str]:
    return [parameter.name for parameter in tool.parameters]
