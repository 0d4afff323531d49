"""Gates on persona sources that make calls: what the data says can be done is done, through MCP.

E1 the gold call succeeds; E2 learning trajectories run clean; E3 the gold can be found by searching with what
the instruction says; E4 every other choice succeeds as well, so that only the rule tells it from the gold.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, cast

from atr_data.constants import CONFIRMATION
from atr_data.episode import Episode, LearningSession, RequiredAction, TestSession
from atr_data.errors import DataError
from atr_data.required_calls import complete_arguments
from atr_datagen.gates.calls import (
    Arguments,
    acting_arguments,
    acting_tool,
    addressed,
    first_error,
    open_world,
    outcome,
    required_action,
    shown,
)
from atr_datagen.gates.face_gates import face_gates, on_each_face
from atr_datagen.gates.owners import owner_path
from atr_datagen.gates.play_gates import FEWEST, play_gates
from atr_datagen.gates.report import CheckReport, GateResult
from atr_datagen.gates.search_gate import search_problems
from atr_datagen.gates.static_gates import static_gates
from atr_datagen.source.compile import Compiled, read_sources
from atr_datagen.source.document import Path
from atr_datagen.source.grammar import RuleBlock
from atr_datagen.source.scenario import TestScenario
from atr_datagen.validity.source_report import source_report
from atr_evaluator.match import Call, match_action
from atr_ontology import Parameter, load_ontology


async def check_everything(
    sources: FilePath | Sequence[FilePath],
    seed: int = 0,
    only: Sequence[str] | None = None,
    official: FilePath | None = None,
) -> CheckReport:
    """Compiles the sources and runs all gates; O1 only when a folder of official episodes is given.

    Raises SourceError when a source does not compile, DataError when there is none.
    """
    compiled = read_sources(sources, seed, only)
    report = source_report(compiled, seed) if len(compiled) >= FEWEST else None
    static = static_gates(compiled, seed, official, report.expected if report else None)
    return CheckReport(
        [*static, *play_gates(compiled, report), *await executable_gates(compiled, seed)],
    )


async def soundness(compiled: Sequence[Compiled], seed: int = 0) -> CheckReport:
    """What a source must hold to become an episode: each face singles out its gold among tempting objects
    (S1, S2) and the gold call succeeds (E1), and learning trajectories run clean (E2)."""
    static = (found for found in face_gates(compiled, seed) if found.gate[:2] in ("S1", "S2"))
    return CheckReport(
        [*static, await _on_tests("E1 gold call", compiled, seed, _gold), await _clean(compiled)]
    )


async def executable_gates(compiled: Sequence[Compiled], seed: int = 0) -> list[GateResult]:
    """E1 to E4, each call in a fresh environment, each learning session in one of its own; E1, E3 and E4
    under every face."""
    return [
        await _on_tests("E1 gold call", compiled, seed, _gold),
        await _clean(compiled),
        await _on_tests("E3 gold findable", compiled, seed, _findable),
        await _on_tests("E4 decoy calls", compiled, seed, _decoys),
    ]


async def _clean(compiled: Sequence[Compiled]) -> GateResult:
    tally = _Tally("E2 learning clean")
    for c in compiled:
        episode = Episode.model_validate(c.episode)
        for session in episode.learning_sessions:
            path = owner_path(c, session.session_id)
            await tally.add(c, path, trajectory_problems(episode, session))
    return tally.result()


_TestCheck = Callable[[Episode, TestSession, TestScenario], Awaitable[list[str]]]


async def _on_tests(name: str, compiled: Sequence[Compiled], seed: int, check: _TestCheck) -> GateResult:
    tally = _Tally(name)
    for c in (faces for one in compiled for faces in on_each_face(one, seed)):
        episode = Episode.model_validate(c.episode)
        for scenario, test in zip(c.tests, episode.test_sessions, strict=True):
            path = scenario.faces[c.shown[scenario.rule_id]].path
            await tally.add(c, path, check(episode, test, scenario))
    return tally.result()


async def _gold(episode: Episode, test: TestSession, scenario: TestScenario) -> list[str]:
    return await gold_problems(episode, test)


async def _findable(episode: Episode, test: TestSession, scenario: TestScenario) -> list[str]:
    """An object to choose must also show what the choice goes by."""
    chosen_by = scenario.deciding and (
        *scenario.deciding,
        *(limit.field for limit in scenario.must),
        *scenario.rule.test.pulls,
    )
    return await search_problems(episode, test, dict.fromkeys(chosen_by))


async def _decoys(episode: Episode, test: TestSession, scenario: TestScenario) -> list[str]:
    return await decoy_problems(episode, test, scenario.rule)


@dataclass(slots=True)
class _Tally:
    gate: str
    passed: int = 0
    total: int = 0
    failures: list[str] = field(default_factory=list[str])

    async def add(self, compiled: Compiled, path: Path, check: Awaitable[list[str]]) -> None:
        try:
            reasons = await check
        except DataError as error:
            reasons = [error.reason]
        self.total += 1
        self.passed += not reasons
        self.failures += [str(compiled.document.problem(path, reason)) for reason in reasons]

    def result(self) -> GateResult:
        return GateResult(self.gate, self.passed, self.total, tuple(self.failures))


async def gold_problems(episode: Episode, test: TestSession) -> list[str]:
    """Why the gold call, with `labels.target` filled in, does not succeed.

    Free text that the call needs (a message's body) is made up; an id, number or date is not.
    """
    required = required_action(test)
    tool = acting_tool(required)
    known = {**test.labels.target, **acting_arguments(required)}
    needed = [p for p in tool.parameters if p.required and p.name not in known]
    lacking = [parameter.name for parameter in needed if not _is_prose(parameter, test)]
    if lacking:
        return [f"the gold call lacks {', '.join(lacking)}; name what is meant under target"]
    error = await first_error(episode, test, _calls(test, required))
    return [f"the gold call fails: {error}"] if error else []


def _is_prose(parameter: Parameter, test: TestSession) -> bool:
    return parameter.type == "string" and not _names_reference(parameter, test)


def _calls(test: TestSession, required: RequiredAction) -> Iterator[tuple[str, Arguments]]:
    """The gold call; after a confirmation also the confirmed one."""
    if required.tool == CONFIRMATION:
        yield required.tool, required.arguments
    tool = acting_tool(required).name
    yield tool, complete_arguments(test, tool, acting_arguments(required))


async def trajectory_problems(episode: Episode, session: LearningSession) -> list[str]:
    """The first step of a learning trajectory that fails or finds nothing."""
    results: list[dict[str, Any]] = []
    async with open_world(episode, session) as client:
        for number, step in enumerate(session.gold_trajectory, start=1):
            try:
                arguments = {name: filled(v, session, results) for name, v in step.arguments.items()}
            except KeyError as error:
                return [f"step {number}, {step.tool}: {error.args[0]}"]
            content, problem = await outcome(client, step.tool, arguments)
            problem = "finds nothing" if content.get("count") == 0 else problem
            if problem:
                return [f"step {number}, {step.tool}({shown(arguments)}): {problem}"]
            results.append(content)
    return []


def filled(value: Any, session: LearningSession, results: Sequence[Mapping[str, Any]]) -> Any:
    """Puts what a step returned for `<result N.field>`, and points as text for `<authored from name>`.

    Raises KeyError that says what step N did return.
    """
    if isinstance(value, list):
        return [filled(item, session, results) for item in cast(list[Any], value)]
    if not isinstance(value, str):
        return value
    if match := re.fullmatch(r"<result (\d+)\.(\w+)>", value):
        result = results[int(match[1]) - 1]
        if match[2] not in result:
            raise KeyError(f"step {match[1]} returns no {match[2]!r} but {', '.join(result)}")
        return result[match[2]]
    if match := re.fullmatch(r"<authored from (\w+)>", value):
        return "; ".join(map(str, session.task_params[match[1]]))
    return value


async def decoy_problems(episode: Episode, test: TestSession, rule: RuleBlock) -> list[str]:
    """Which other choice cannot be made, or would pass.

    A rival tool that takes an id which only an earlier call can make is not called.
    """
    required = required_action(test)
    problems: list[str] = []
    for tool, arguments in decoy_calls(test, rule):
        complete = complete_arguments(test, tool, arguments)
        if match_action(required, [[Call("decoy", tool, complete)]]).passed:
            problems.append(f"{tool}({shown(arguments)}) passes without being the gold")
        error = None if _takes_made_id(tool, test) else await first_error(episode, test, [(tool, complete)])
        if error:
            problems.append(f"another choice fails, which gives the gold away: {error}")
    return problems


def _takes_made_id(name: str, test: TestSession) -> bool:
    tool = load_ontology().tool(name)
    needed = [p for p in tool.parameters if p.required] if tool else []
    return any(p.names_object and not _names_reference(p, test) for p in needed)


def _names_reference(parameter: Parameter, test: TestSession) -> bool:
    return parameter.name in load_ontology().object_parameters(test.domain)


def decoy_calls(test: TestSession, rule: RuleBlock) -> Iterator[tuple[str, Arguments]]:
    """What an agent that does not know the rule might do instead of the gold, as the compared arguments."""
    required = required_action(test)
    name = next(iter(required.compare_args or []), "")
    match rule.type:
        case "param_id":
            for found in _other_candidates(test, name, required.arguments[name]):
                yield required.tool, {name: [found] if isinstance(required.arguments[name], list) else found}
        case "param_enum":
            parameter = acting_tool(required).parameter(name)
            for value in parameter.enum if parameter else ():
                if value != required.arguments[name]:
                    yield required.tool, {name: value}
        case "tool_identity":
            others = dict.fromkeys([*rule.tools, str(rule.blind_choice)])
            yield from ((tool, {}) for tool in others if tool != required.tool)
        case "confirm":
            yield acting_tool(required).name, acting_arguments(required)
            yield from _other_pins(test, required)


def _other_candidates(test: TestSession, parameter: str, gold: Any) -> Iterator[str]:
    """The objects of the gold's type that the parameter could name, golds left out."""
    golds = set(cast(list[str], gold)) if isinstance(gold, list) else {gold}
    types = load_ontology().objects(test.domain)
    found = [
        (r.type, addressed(r, parameter, test.domain)) for r in test.local_env.references if r.type in types
    ]
    gold_types = {kind for kind, name in found if name in golds}
    yield from (name for kind, name in found if kind in gold_types and name is not None and name not in golds)


def _other_pins(test: TestSession, required: RequiredAction) -> Iterator[tuple[str, Arguments]]:
    """The confirmation asked for another object than the pinned one."""
    pinned = acting_arguments(required)
    for name in pinned.keys() & load_ontology().object_parameters(test.domain):
        for other in _other_candidates(test, name, pinned[name]):
            changed = {**pinned, name: [other] if isinstance(pinned[name], list) else other}
            yield CONFIRMATION, {**required.arguments, "target_params": changed}
