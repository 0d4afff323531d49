"""Where points are lost: one class for every test of a cell (evaluation.md section 11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Literal, TypedDict

from atr_data.constants import CONFIRMATION
from atr_data.episode import Episode, LearningSession, RequiredAction, Rule, TestSession
from atr_data.trajectory import spoken
from atr_evaluator.asking import HeldSession
from atr_evaluator.match import Batch
from atr_evaluator.runs import SessionRun
from atr_evaluator.sessions import Scoring, SessionResult
from atr_evaluator.spraying import is_sprayed
from atr_ontology import load_ontology

LossClass = Literal[
    "not_played",
    "unknown",
    "passed_knowing",
    "passed_unknowing",
    "unconfirmed",
    "not_tried",
    "misapplied",
    "not_kept",
    "asked_past",
    "not_asked",
]

LOSS_CLASSES: Mapping[LossClass, str] = {
    "passed_knowing": "passed, and the answer stood in memory",
    "passed_unknowing": "passed, though the answer stood nowhere",
    "not_asked": "nobody asked when there was occasion to",
    "asked_past": "asked about rules, on an occasion of this one, and not about it",
    "not_kept": "heard, and not in the memory that the test could read",
    "not_tried": "readable, but the required tool was never called",
    "misapplied": "readable, and the tool was called with other arguments",
    "unconfirmed": "readable, and done without asking first",
    "unknown": "nobody recorded what could be read",
    "not_played": "the session has no result",
}
"""Each class in a few words, in the order of tables: on the way from the question to the right call."""

PASSED: frozenset[LossClass] = frozenset({"passed_knowing", "passed_unknowing"})


class Loss(TypedDict):
    """`sprayed`: the test was passed by carrying a rival of its tool out as well."""

    session_id: str
    loss_class: LossClass
    rule_readable: bool | None
    sprayed: bool


def loss_classes(episode: Episode, scoring: Scoring, learning: Iterable[HeldSession]) -> list[Loss]:
    """One entry per session result, in its order. `learning` are the scored learning sessions."""
    held = list(learning)
    tests = {test.session_id: test for test in episode.test_sessions}
    rules = {rule.rule_id: rule for rule in episode.rules}
    heard = {hit.rule_id for session in held for hit in session.asking.hits}
    asking = {session.session_id for session in held if session.asking.routed_rule}
    touched = [_touched(session) for session in episode.learning_sessions if session.session_id in asking]
    losses: list[Loss] = []
    for result, run in zip(scoring.results, scoring.runs, strict=True):
        test, rule = tests[result["session_id"]], rules[result["rule_id"]]
        known: LossClass | None = None
        if run is not None and run.rule_readable is False and not result["task_success"]:
            known = _unread(test, rule, heard, touched)
        losses.append(
            {
                "session_id": test.session_id,
                "loss_class": known or _class(result, test, run),
                "rule_readable": run.rule_readable if run else None,
                "sprayed": run is not None and _sprayed(test, rule, run.batches),
            }
        )
    return losses


def _class(result: SessionResult, test: TestSession, run: SessionRun | None) -> LossClass:
    """Of a test that was not played, that nobody knows about, that was passed, or that was lost though its
    rule was there to be read."""
    if run is None:
        return "not_played"
    if run.rule_readable is None:
        return "unknown"
    if result["task_success"]:
        return "passed_knowing" if run.rule_readable else "passed_unknowing"
    if any(_called_unasked(tool, run.batches) for tool in _guarded(test)):
        return "unconfirmed"
    failed = [step for step in result["step_results"] if not step["passed"]]
    return "misapplied" if failed and failed[0]["tool_found"] else "not_tried"


def _unread(test: TestSession, rule: Rule, heard: set[str], touched: Sequence[set[str]]) -> LossClass:
    """Of a lost test whose rule was not there to be read. `touched` are the tools of each learning session in
    which a question about rules was asked."""
    if rule.rule_id in heard:
        return "not_kept"
    tools = _family(test, rule)
    return "not_asked" if all(tools.isdisjoint(others) for others in touched) else "asked_past"


def _guarded(test: TestSession) -> set[str]:
    """The tools that the test wants to be asked about first."""
    named = (spoken(action.arguments.get("target_tool")) for action in _actions(test, confirming=True))
    return {tool for tool in named if tool}


def _called_unasked(tool: str, batches: Sequence[Batch]) -> bool:
    """Whether a tool was called, and no earlier call asked to confirm it."""
    for call in (call for batch in batches for call in batch):
        if call.name == CONFIRMATION and spoken(call.arguments.get("target_tool")) == tool:
            return False
        if call.name == tool:
            return True
    return False


def _family(test: TestSession, rule: Rule) -> set[str]:
    """The tools by which a learning session gives occasion to ask about a rule: the gold's and its rivals,
    for a confirmation the tool to be confirmed."""
    golds = {action.tool for action in _actions(test, confirming=False)}
    guarded = _guarded(test) or ({rule.action_step.param or ""} if rule.check_type == "confirm" else set())
    return golds.union(*(rivals_of(tool) for tool in golds), guarded) - {""}


@cache
def rivals_of(tool: str) -> frozenset[str]:
    """The tools that answer the same kind of request, the tool itself among them; none where there are no
    others."""
    return frozenset(name for row in load_ontology().rivals if tool in row for name in row)


def _touched(session: LearningSession) -> set[str]:
    steps = session.gold_trajectory
    return {step.tool for step in steps} | {spoken(step.arguments.get("target_tool")) for step in steps}


def _sprayed(test: TestSession, rule: Rule, batches: Sequence[Batch]) -> bool:
    return rule.check_type == "tool_identity" and any(
        is_sprayed(action, batches, rivals_of(action.tool)) for action in _actions(test, confirming=False)
    )


def _actions(test: TestSession, *, confirming: bool) -> list[RequiredAction]:
    actions = test.labels.task_success.required_actions
    return [action for action in actions if (action.tool == CONFIRMATION) == confirming]
