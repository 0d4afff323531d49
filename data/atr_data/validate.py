"""What is wrong with an episode file beyond what keeps it from loading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from pydantic import BaseModel, ValidationError

from atr_data.constants import CONFIRMATION
from atr_data.episode import Episode, GoldStep, LearningSession, LocalEnv, RequiredAction, Rule, TestSession
from atr_data.errors import DataError
from atr_data.limits import check_arguments
from atr_data.load import describe, name_problem, named_ids
from atr_data.reading import StrPath, read_json
from atr_ontology import DOMAINS, Tool, load_ontology


@dataclass(frozen=True, slots=True)
class Finding:
    """`harmless`: an error of order, with which the episode can be played all the same."""

    level: Literal["error", "warning"]
    key: str
    message: str
    harmless: bool = False

    @property
    def blocks(self) -> bool:
        """Whether it keeps the episode from being played as it is written."""
        return self.level == "error" and not self.harmless

    def __str__(self) -> str:
        return f"{self.level}: {self.key}: {self.message}"


Found = Iterator[tuple[str, str]]
Session = LearningSession | TestSession
_READ_BY_NOBODY: Mapping[type[BaseModel], frozenset[str]] = {TestSession: frozenset({"gold_value"})}


def validate_episode(path: StrPath) -> list[Finding]:
    """All findings on a file, errors first. A file that does not load gives errors, never an exception."""
    try:
        data = read_json(path)
    except DataError as error:
        return [Finding("error", "file", error.reason)]
    try:
        episode = Episode.model_validate(data)
    except ValidationError as error:
        return [Finding("error", *describe(detail)) for detail in error.errors(include_url=False)]
    warnings = [Finding("warning", key, "unknown field, ignored") for key in unknown_fields(Episode, data)]
    return [*episode_errors(episode), *warnings]


def episode_errors(episode: Episode) -> list[Finding]:
    """What does not fit together inside an episode. Keys name rules and sessions by their ids."""
    found = [
        *_ids(episode),
        *_rules(episode),
        *(item for session in episode.learning_sessions for item in _learning(session)),
        *(item for session in episode.test_sessions for item in _test(session, episode)),
    ]
    return [
        *(Finding("error", key, message) for key, message in found),
        *(Finding("error", key, message, harmless=True) for key, message in _order(episode)),
    ]


def unknown_fields(model: type[BaseModel], data: Any, key: str = "") -> Iterator[str]:
    """The keys of a file that no model knows."""
    if not isinstance(data, dict):
        return
    fields = cast(dict[str, Any], data)
    read = {*model.model_fields, *model.model_computed_fields, *_READ_BY_NOBODY.get(model, ())}
    if model.model_config.get("extra") != "allow":
        yield from (f"{key}.{name}".lstrip(".") for name in fields if name not in read)
    for name, info in model.model_fields.items():
        for kind in (info.annotation, *get_args(info.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _unknown_below(kind, fields.get(name), f"{key}.{name}".lstrip("."))


def _unknown_below(model: type[BaseModel], value: Any, key: str) -> Iterator[str]:
    if isinstance(value, list):
        for index, item in enumerate(cast(list[Any], value)):
            yield from unknown_fields(model, item, f"{key}[{index}]")
    else:
        yield from unknown_fields(model, value, key)


def _ids(episode: Episode) -> Found:
    for key, name in named_ids(episode):
        if problem := name_problem(name):
            yield key, problem
    sessions = [s.session_id for s in (*episode.learning_sessions, *episode.test_sessions)]
    for kind, ids in (("rules", [r.rule_id for r in episode.rules]), ("sessions", sessions)):
        yield from ((f"{kind}[{name}]", f"id stands {n} times") for name, n in Counter(ids).items() if n > 1)


def _order(episode: Episode) -> Found:
    prefixes = (f"{episode.persona_id}_seed", f"{episode.persona_id}_drawn_seed")
    if not episode.episode_id.startswith(prefixes) or episode.seed is None:
        yield "episode_id", f"should be {episode.persona_id}_seedNNN; is {episode.episode_id!r}"
    tested = {test.rule_id for test in episode.test_sessions}
    for rule in episode.rules:
        if rule.rule_id not in tested:
            yield f"rules[{rule.rule_id}]", "has no test session"


def _rules(episode: Episode) -> Found:
    for rule in episode.rules:
        key = f"rules[{rule.rule_id}]"
        yield from ((f"{key}.action_step", message) for message in _action_step(rule))
    known = {rule.rule_id for rule in episode.rules}
    for name in episode.metadata.selected_rules or []:
        if name not in known:
            yield "metadata.selected_rules", f"no rule {name!r}"


def _action_step(rule: Rule) -> Iterator[str]:
    step = rule.action_step
    tool = load_ontology().tool(step.tool)
    if tool is None:
        yield f"no tool {step.tool!r} in the ontology"
        return
    parameter = tool.parameter(step.param) if step.param else None
    match rule.check_type:
        case "tool_identity" if step.param is not None:
            yield f"param should be null for tool_identity; is {step.param!r}"
        case "param_id" if parameter is None or not parameter.names_object:
            yield f"param should be an id parameter of {tool.name}; is {step.param!r}"
        case "param_enum" if parameter is None or not parameter.enum:
            yield f"param should be an enum parameter of {tool.name}; is {step.param!r}"
        case "confirm":
            target = load_ontology().tool(step.param or "")
            if tool.name != CONFIRMATION or target is None or target.kind != "write":
                yield f"should be {CONFIRMATION} and a writing tool; is {tool.name} and {step.param!r}"
        case _:
            pass


def _learning(session: LearningSession) -> Found:
    key = f"learning_sessions[{session.session_id}]"
    yield from _world(session, key)
    for index, step in enumerate(session.gold_trajectory):
        for message in _call(step, session):
            yield f"{key}.gold_trajectory[{index}]", message
    for name in session.expected_tools:
        if load_ontology().tool(name) is None:
            yield f"{key}.expected_tools", f"no tool {name!r} in the ontology"


def _test(test: TestSession, episode: Episode) -> Found:
    key = f"test_sessions[{test.session_id}]"
    yield from _world(test, key)
    rule = episode.rule(test.rule_id)
    if rule is None:
        yield f"{key}.rule_id", f"no rule {test.rule_id!r}"
    actions = test.labels.task_success.required_actions
    if not actions:
        yield f"{key}.labels", "has no required action"
    for action in actions:
        for message in _required(action, test, rule):
            yield f"{key}.labels", message


def _world(session: Session, key: str) -> Found:
    if session.domain not in DOMAINS:
        yield f"{key}.domain", f"no domain {session.domain!r}; one of: {', '.join(DOMAINS)}"
        return
    env = session.local_env
    offered = {tool.name for tool in load_ontology().offered(session.domain)}
    for name in env.tools:
        if name not in offered:
            yield f"{key}.local_env.tools", f"{session.domain} has no tool {name!r}"
    yield from _references(env, session.domain, f"{key}.local_env.references")


def _references(env: LocalEnv, domain: str, key: str) -> Found:
    for reference in env.references:
        if reference.type not in load_ontology().objects(domain):
            yield key, f"{reference.id}: {domain} knows no reference type {reference.type!r}"
        if problem := check_arguments(reference.attributes):
            yield key, f"{reference.id}: attributes: {problem}"
    for name, count in Counter(reference.id for reference in env.references).items():
        if count > 1:
            yield key, f"{name}: id stands {count} times"


def _call(step: GoldStep, session: LearningSession) -> Iterator[str]:
    tool = load_ontology().tool(step.tool)
    if tool is None:
        yield f"no tool {step.tool!r} in the ontology"
        return
    if step.tool not in (*session.local_env.tools, CONFIRMATION):
        yield f"{step.tool} is not offered in this session"
    yield from _unknown_arguments(tool, step.arguments)
    missing = [p.name for p in tool.parameters if p.required and p.name not in step.arguments]
    if missing:
        yield f"{tool.name} lacks {', '.join(missing)}"


def _unknown_arguments(tool: Tool, names: Iterable[str]) -> Iterator[str]:
    yield from (f"{tool.name} has no parameter {name!r}" for name in names if tool.parameter(name) is None)


def _required(action: RequiredAction, test: TestSession, rule: Rule | None) -> Iterator[str]:
    tool = load_ontology().tool(action.tool)
    if tool is None:
        yield f"no tool {action.tool!r} in the ontology"
        return
    if action.tool not in (*test.local_env.tools, CONFIRMATION):
        yield f"{action.tool} is not offered in this session"
    yield from _unknown_arguments(tool, action.arguments)
    for name in action.compare_args or []:
        gold = action.arguments.get(name)
        parameter = tool.parameter(name)
        if name not in action.arguments:
            yield f"compared argument {name!r} has no gold"
        elif parameter is not None and parameter.enum and gold not in parameter.enum:
            yield f"{name} has no value {gold!r}; one of: {', '.join(parameter.enum)}"
        elif rule is not None and rule.check_type == "param_id":
            yield from _missing_golds(name, gold, test.local_env)
    yield from _target(action, tool, test, rule)


def _missing_golds(name: str, gold: Any, env: LocalEnv) -> Iterator[str]:
    links = load_ontology().link_prefixes
    linked = {str(r.attributes[link]) for r in env.references for link in links if link in r.attributes}
    known = linked | {reference.id for reference in env.references}
    golds = cast(list[Any], gold) if isinstance(gold, list) else [gold]
    yield from (f"gold {name} {item!r} is no object of the session" for item in golds if item not in known)


def _target(action: RequiredAction, tool: Tool, test: TestSession, rule: Rule | None) -> Iterator[str]:
    acting = tool
    if action.tool == CONFIRMATION:
        named = action.arguments.get("target_tool")
        target = load_ontology().tool(str(named))
        if target is None:
            yield f"target_tool {named!r} is no tool of the ontology"
            return
        acting = target
        if rule is not None and rule.check_type == "confirm" and rule.action_step.param != named:
            yield f"target_tool is {named!r}, but the rule's action_step names {rule.action_step.param!r}"
        yield from _unknown_arguments(
            target, cast(dict[str, Any], action.arguments.get("target_params") or {})
        )
    yield from _unknown_arguments(acting, test.labels.target)
