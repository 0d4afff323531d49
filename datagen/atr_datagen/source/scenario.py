"""The sessions of a source with everything resolved: objects, ids, predicates, required action, calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atr_data.constants import CONFIRMATION
from atr_data.episode import RequiredAction
from atr_datagen.drawn_tools import drawn_tools
from atr_datagen.source.arguments import coerce, reference_id, resolve_references, unknown_parameter
from atr_datagen.source.document import Path, nearest
from atr_datagen.source.grammar import FaceBlock, LearningBlock, RuleBlock
from atr_datagen.source.predicates import Predicate, holds, items, parse_predicate
from atr_datagen.source.reading import Problems
from atr_datagen.source.steps import ResolvedStep, parse_step, resolve_step
from atr_datagen.source.world import Naming, Row, World, read_world
from atr_ontology import Tool, load_ontology


@dataclass(frozen=True, slots=True)
class FaceScenario:
    """One face with its gold. `golds` are the objects that it singles out (param_id)."""

    block: FaceBlock
    path: Path
    rule_is: Sequence[Predicate]
    golds: Sequence[Row]
    required: RequiredAction
    target: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TestScenario:
    """A test, which is the same under every face, and the faces."""

    __test__ = False

    rule: RuleBlock
    rule_id: str
    path: Path
    world: World
    must: Sequence[Predicate]
    faces: Sequence[FaceScenario]

    @property
    def deciding(self) -> tuple[str, ...]:
        """The attributes that any face decides by."""
        return tuple(dict.fromkeys(p.field for face in self.faces for p in face.rule_is))


@dataclass(frozen=True, slots=True)
class LearningScenario:
    block: LearningBlock
    session_id: str
    path: Path
    world: World
    know: Mapping[str, Any]
    steps: Sequence[ResolvedStep]


def domain_tool(domain: str, name: str) -> Tool:
    """A tool that a rule may bind. Raises ValueError that names the nearest tool of the domain."""
    return _tool_among(drawn_tools(domain), domain, name)


def offered_tool(domain: str, name: str) -> Tool:
    """A tool that a session may call, those of every domain among them. Raises as domain_tool does."""
    return _tool_among((*load_ontology().base_tools, *drawn_tools(domain)), domain, name)


def _tool_among(tools: Sequence[Tool], domain: str, name: str) -> Tool:
    by_name = {tool.name: tool for tool in tools}
    if name not in by_name:
        raise ValueError(f"{domain} has no tool {name!r}; {nearest(name, by_name)}")
    return by_name[name]


def read_test(
    rule: RuleBlock, rule_id: str, index: int, seed: int, persona: str, problems: Problems
) -> TestScenario:
    """The test of a rule whose header is sound. Reports what is wrong in the test block and the faces."""
    path: Path = ("rules", index, "test")
    world = read_world(rule.test, rule.domain, path, Naming(seed, persona, rule_id), problems)
    fields = {name for row in world.rows for name in row.attributes}
    must = _predicates(rule.test.must, fields, (*path, "must"), problems)
    faces: list[FaceScenario] = []
    for place, face in enumerate(rule.faces):
        where: Path = ("rules", index, "faces", place)
        tool = domain_tool(rule.domain, face.tool or rule.tools[0])
        rule_is = _predicates(face.rule_is, fields, (*where, "rule_is"), problems)
        target = _shared_target(rule, tool, world, (*path, "target"), problems)
        target |= _target(face.target, tool, rule.domain, world, (*where, "target"), problems)
        golds = [row for row in world.candidates() if rule_is and holds((*must, *rule_is), row.attributes)]
        required = _required(rule, face, tool, golds, world, where, problems)
        faces.append(FaceScenario(face, where, rule_is, golds, required, target))
    if rule.type == "param_id":
        _told_apart(faces, problems)
    return TestScenario(rule, rule_id, path, world, must, faces)


def _required(
    rule: RuleBlock,
    face: FaceBlock,
    tool: Tool,
    golds: Sequence[Row],
    world: World,
    path: Path,
    problems: Problems,
) -> RequiredAction:
    match rule.type:
        case "param_id":
            return _id_action(rule, tool, golds, world, (*path, "rule_is"), problems)
        case "param_enum":
            arguments: dict[str, Any] = {str(rule.parameter): face.value}
            return RequiredAction(tool=tool.name, arguments=arguments, compare_args=list(arguments))
        case "confirm":
            arguments = {"target_tool": tool.name}
            pinned = _pinned(rule, tool, world, (*path[:2], "pin"), problems)
            arguments |= {"target_params": pinned} if pinned else {}
            return RequiredAction(tool=CONFIRMATION, arguments=arguments, compare_args=list(arguments))
        case "tool_identity":
            return RequiredAction(tool=tool.name)


def _told_apart(faces: Sequence[FaceScenario], problems: Problems) -> None:
    owner: dict[frozenset[str], str] = {}
    for face in faces:
        keys = frozenset(row.key for row in face.golds)
        if keys and keys in owner:
            reason = f"singles out what face {owner[keys]} does, {', '.join(sorted(keys))}"
            problems.add((*face.path, "rule_is"), reason)
        owner.setdefault(keys, face.block.key)


def read_learning(
    block: LearningBlock, index: int, seed: int, persona: str, problems: Problems
) -> LearningScenario:
    """A learning session whose header is sound. Reports what is wrong in its objects, facts and steps."""
    path: Path = ("learning", index)
    session_id = f"{persona}_s{index:02d}"
    world = read_world(block, block.domain, path, Naming(seed, persona, session_id), problems)
    know: dict[str, Any] = {}
    for name, value in block.know.items():
        try:
            know[name] = resolve_references(value, world.ids)
        except ValueError as error:
            problems.add((*path, "know", name), str(error))
        if value is None:
            problems.add((*path, "know", name), "has no value (a # outside quotes starts a comment)")
    steps: list[ResolvedStep] = []
    for number, text in enumerate(block.steps, start=1):
        try:
            step = parse_step(text)
            tool = offered_tool(block.domain, step.tool)
            steps.append(resolve_step(step, number, tool, block.know, world.ids))
        except ValueError as error:
            problems.add((*path, "steps", number - 1), str(error))
    return LearningScenario(block, session_id, path, world, know, steps)


def _predicates(texts: Sequence[str], fields: set[str], path: Path, problems: Problems) -> list[Predicate]:
    found: list[Predicate] = []
    for index, text in enumerate(texts):
        try:
            predicate = parse_predicate(text)
            if predicate.field not in fields:
                raise ValueError(
                    f"no object here has {predicate.field!r}; {nearest(predicate.field, fields)}"
                )
            found.append(predicate)
        except ValueError as error:
            problems.add((*path, index), str(error))
    return found


def _shared_target(
    rule: RuleBlock, tool: Tool, world: World, path: Path, problems: Problems
) -> dict[str, Any]:
    """What of the test's target a face's tool can take. A parameter that no face's tool has is a mistake."""
    tools = [domain_tool(rule.domain, name) for name in rule.tools]
    kept = {name: value for name, value in rule.test.target.items() if tool.parameter(name)}
    for name in rule.test.target:
        if not any(other.parameter(name) for other in tools):
            problems.add((*path, name), unknown_parameter(tool, name))
    return _target(kept, tool, rule.domain, world, path, problems)


def _target(
    raw: Mapping[str, Any], tool: Tool, domain: str, world: World, path: Path, problems: Problems
) -> dict[str, Any]:
    target: dict[str, Any] = {}
    for name, value in raw.items():
        try:
            parameter = tool.parameter(name)
            if parameter is None:
                raise ValueError(unknown_parameter(tool, name))
            if name in load_ontology().object_parameters(domain):
                found = [reference_id(str(key).removeprefix("#"), world.ids) for key in items(value)]
                value = found if isinstance(value, list) or parameter.takes_many else found[0]
            target[name] = coerce(parameter, resolve_references(value, world.ids))
        except ValueError as error:
            problems.add((*path, name), str(error))
    return target


def _pinned(rule: RuleBlock, tool: Tool, world: World, path: Path, problems: Problems) -> dict[str, Any]:
    pinned: dict[str, Any] = {}
    for name, value in (rule.pin or {}).items():
        try:
            parameter = tool.parameter(name)
            if parameter is None:
                raise ValueError(unknown_parameter(tool, name))
            pinned[name] = coerce(parameter, resolve_references(value, world.ids))
        except ValueError as error:
            problems.add((*path, name), str(error))
    return pinned


def _id_action(
    rule: RuleBlock, tool: Tool, golds: Sequence[Row], world: World, path: Path, problems: Problems
) -> RequiredAction:
    name = str(rule.parameter)
    parameter = tool.parameter(name)
    listed = parameter is not None and parameter.takes_many
    found: list[str] = []
    try:
        found = list(dict.fromkeys(row_argument(row, name, rule.domain, world) for row in golds))
        if not found or (len(found) > 1 and not listed):
            keys = ", ".join(row.key for row in golds) or "none"
            raise ValueError(f"limits and face are met by {keys}; should be {'any' if listed else 'one'}")
    except ValueError as error:
        problems.add(path, str(error))
    gold = found if listed else next(iter(found), None)
    return RequiredAction(tool=tool.name, arguments={name: gold}, compare_args=[name])


def row_argument(row: Row, parameter: str, domain: str, world: World) -> str:
    """The id by which a parameter names a row: the row's own, or that of the object linked to it.

    Raises ValueError when the parameter does not take objects of the row's type.
    """
    kind = load_ontology().objects(domain)[row.type]
    if named := kind.id_for(parameter, row.key, row.attributes):
        return world.ids[named]
    if parameter == kind.link:
        raise ValueError(f"{row.key} has no {kind.link}, which {parameter} takes")
    raise ValueError(f"{parameter} does not take a {row.type}")
