"""What must fit together in the faces of a rule, and in the two rules of a scope pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from atr_datagen.source.document import Path, nearest
from atr_datagen.source.grammar import BlindFace, FaceBlock, RuleBlock
from atr_datagen.source.reading import Placed
from atr_ontology import DOMAINS, Tool, load_ontology

FACES = {"param_id": (3, None), "param_enum": (2, None), "tool_identity": (2, None), "confirm": (1, 1)}
"""Fewest and most faces of a rule. Two values do only where no third can be a preference."""
PAIR_FACES = 3
_SAYS_GOLD = {"param_id": "rule_is", "param_enum": "value", "tool_identity": "tool"}
_Found = Iterator[tuple[Path, str]]


def face_problems(rule: RuleBlock) -> _Found:
    """What does not fit in the faces of a rule: the path below the rule, and why."""
    low, high = FACES[rule.type]
    count = len(rule.faces)
    if count < low or (high is not None and count > high):
        wanted = f"{low}" if low == high else f"{low} or more"
        yield ("faces",), f"has {count} faces; a {rule.type} rule has {wanted}"
    for key, times in Counter(face.key for face in rule.faces).items():
        if times > 1:
            yield ("faces",), f"key {key!r} stands {times} times"
    for index, face in enumerate(rule.faces):
        yield from ((("faces", index, key), reason) for key, reason in _says_gold(rule, face))
    yield from _choices(rule)
    yield from _blind(rule)


def _says_gold(rule: RuleBlock, face: FaceBlock) -> Iterator[tuple[str, str]]:
    needed = _SAYS_GOLD.get(rule.type)
    for key in _SAYS_GOLD.values():
        given = bool(getattr(face, key))
        if given and key != needed:
            yield key, f"does not belong to a {rule.type} rule"
        elif key == needed and not given:
            yield key, f"is missing; a face of a {rule.type} rule needs it"


def _choices(rule: RuleBlock) -> _Found:
    """Values and tools: known ones, each of one face."""
    owner: dict[str, str] = {}
    for index, face in enumerate(rule.faces):
        choice = rule.choice(face)
        if choice is None:
            continue
        key = _SAYS_GOLD[rule.type]
        unknown = _unknown(rule, choice)
        if unknown:
            yield ("faces", index, key), unknown
        if choice in owner:
            yield ("faces", index, key), f"is the gold of face {owner[choice]} too, {choice!r}"
        owner.setdefault(choice, face.key)
        yield from _targets(rule, index, face)


def _targets(rule: RuleBlock, index: int, face: FaceBlock) -> _Found:
    tool = face_tool(rule, face)
    for name in face.target:
        if tool is not None and tool.parameter(name) is None:
            known = (parameter.name for parameter in tool.parameters)
            yield (
                ("faces", index, "target", name),
                f"{tool.name} has no parameter {name!r}; {nearest(name, known)}",
            )


def face_tool(rule: RuleBlock, face: FaceBlock) -> Tool | None:
    """The tool that a face's gold calls, or asks to have confirmed; None when the domain lacks it."""
    name = face.tool if rule.type == "tool_identity" else rule.tools[0]
    tools = load_ontology().domain(rule.domain).tools if rule.domain in DOMAINS else ()
    return next((tool for tool in tools if tool.name == name), None)


def _unknown(rule: RuleBlock, choice: str) -> str | None:
    if rule.type == "tool_identity":
        names = [tool.name for tool in load_ontology().domain(rule.domain).tools]
        return None if choice in names else f"{rule.domain} has no tool {choice!r}; {nearest(choice, names)}"
    tool = load_ontology().tool(rule.tools[0])
    parameter = tool.parameter(rule.parameter) if tool and rule.parameter else None
    if parameter is None or choice in parameter.enum:
        return None
    return f"{parameter.name} has no value {choice!r}; one of: {', '.join(parameter.enum)}"


def _blind(rule: RuleBlock) -> _Found:
    """What a rule-blind agent does is no face, or is declared to be one."""
    if isinstance(rule.blind, BlindFace):
        if rule.face(rule.blind.face) is None:
            known = (face.key for face in rule.faces)
            yield ("blind",), f"no face {rule.blind.face!r}; {nearest(rule.blind.face, known)}"
    elif rule.blind is not None and rule.type in ("param_enum", "tool_identity"):
        unknown = _unknown(rule, rule.blind)
        if unknown:
            yield ("blind",), unknown
        same = next((face.key for face in rule.faces if rule.choice(face) == rule.blind), None)
        if same is not None:
            yield ("blind",), f"is what face {same} asks for; if that is meant, write {{face: {same}}}"


def pair_problems(rules: Sequence[Placed[RuleBlock]], unread: frozenset[str]) -> Iterator[tuple[int, str]]:
    """What keeps two rules from being a scope pair: the place of a rule, and why."""
    pairs: dict[str, list[Placed[RuleBlock]]] = {}
    for placed in rules:
        if placed.block.pair is not None:
            pairs.setdefault(placed.block.pair, []).append(placed)
    for name, members in pairs.items():
        if len(members) != 2:
            if not unread:
                yield members[0].index, f"{name!r} stands at {len(members)} rules; a scope pair has two"
            continue
        first, second = (placed.block for placed in members)
        if (first.type, set(first.slot.split())) != (second.type, set(second.slot.split())):
            yield members[1].index, f"decides {second.slot}; {first.key}, the other one, decides {first.slot}"
        keys = [{face.key for face in rule.faces} for rule in (first, second)]
        if keys[0] != keys[1]:
            odd = ", ".join(sorted(keys[0] ^ keys[1]))
            yield members[1].index, f"needs the face keys of {first.key}; only one of them has {odd}"
        elif len(keys[0]) < PAIR_FACES:
            yield members[1].index, f"has {len(keys[0])} face keys; a scope pair needs {PAIR_FACES} or more"
