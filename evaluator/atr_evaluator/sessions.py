"""The result of each test session, present or missing."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

from atr_data.episode import Episode, Rule, TestSession
from atr_data.variants import VARIANTS
from atr_evaluator.match import ActionMatch, Mismatches, match_action
from atr_evaluator.runs import SessionRun

logger = logging.getLogger(__name__)

NO_RULE = "its rule is not in the episode"


class StepResult(TypedDict):
    """`step_idx` counts the required actions of the session from 0."""

    step_idx: int
    required_tool: str
    tool_found: bool
    matched_call_id: str | None
    args_match: bool
    arg_mismatches: Mismatches
    passed: bool


class SessionResult(TypedDict):
    """`missing` stands in the results of sessions that were not run; they have failed."""

    session_id: str
    rule_id: str
    agent_variant: str
    check_type: str
    domain: str
    step_results: list[StepResult]
    task_success: bool
    missing: NotRequired[bool]


class Diagnosis(TypedDict):
    """What is told about a session result and never scored.

    `executed`: whether the environment carried out every matched call (None: an action was not found, or an
    answer is not on record). `corrected_later`: the session failed, and would have passed had the agent's
    later calls counted.
    """

    session_id: str
    executed: bool | None
    corrected_later: bool


class Ignored(TypedDict):
    """A run that has no session result, and why."""

    session_id: str
    agent_variant: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scoring:
    """`runs` and `diagnostics` go with `results` one by one; a missing test has no run."""

    results: list[SessionResult] = field(default_factory=list[SessionResult])
    runs: list[SessionRun | None] = field(default_factory=list["SessionRun | None"])
    diagnostics: list[Diagnosis] = field(default_factory=list[Diagnosis])
    missing_test_sessions: list[str] = field(default_factory=list[str])
    missing_learning_sessions: list[str] = field(default_factory=list[str])
    ignored: list[Ignored] = field(default_factory=list[Ignored])


def selected(agent_variant: str, variant: str | None) -> bool:
    """Whether a run of `agent_variant` is scored under `variant`; None and "" take all."""
    return not variant or agent_variant == variant


def score_sessions(episode: Episode, runs: Sequence[SessionRun], variant: str | None) -> Scoring:
    """One result per test run in the given order, then one per missing test in the episode's order.

    Several runs of one session give a result each. A test session whose rule the episode lacks is left out
    altogether, with a warning. Of several sessions or rules with one id the last counts.
    """
    rules = {rule.rule_id: rule for rule in episode.rules}
    tests = {session.session_id: session for session in episode.test_sessions}
    learning_ids = {session.session_id for session in episode.learning_sessions}
    scoring = Scoring()
    kept: list[SessionRun] = []
    for run in runs:
        if selected(run.variant, variant):
            kept.append(run)
        else:
            _ignore(scoring, run, "another variant")
    for run in kept:
        if run.session_type == "learning":
            if run.session_id not in learning_ids:
                _ignore(scoring, run, "no learning session of the episode")
        elif (test := tests.get(run.session_id)) is None:
            _ignore(scoring, run, "no test session of the episode")
        elif (rule := rules.get(test.rule_id)) is None:
            _ignore(scoring, run, NO_RULE)
        else:
            _add(scoring, test, rule, run)
    scored = {result["session_id"] for result in scoring.results}
    for test in tests.values():
        rule = rules.get(test.rule_id)
        if rule is None:
            logger.warning("%s: test %s is not scored: %s", episode.episode_id, test.session_id, NO_RULE)
        elif test.session_id not in scored:
            _add_missing(scoring, test, rule, variant)
    if variant is None or variant not in VARIANTS or not VARIANTS[variant].is_oracle:
        present = {run.session_id for run in kept if run.session_type == "learning"}
        scoring.missing_learning_sessions.extend(sorted(learning_ids - present))
    return scoring


def _ignore(scoring: Scoring, run: SessionRun, reason: str) -> None:
    logger.warning("%s (%s) is left out of the score: %s", run.session_id, run.variant, reason)
    scoring.ignored.append({"session_id": run.session_id, "agent_variant": run.variant, "reason": reason})


def _add(scoring: Scoring, test: TestSession, rule: Rule, run: SessionRun) -> None:
    actions = test.labels.task_success.required_actions
    matches = [match_action(action, run.batches) for action in actions]
    passed = bool(matches) and all(match.passed for match in matches)
    steps = [
        _step(index, action.tool, match)
        for index, (action, match) in enumerate(zip(actions, matches, strict=True))
    ]
    scoring.results.append(_result(test, rule, run.variant, steps, passed))
    scoring.runs.append(run)
    scoring.diagnostics.append(
        {
            "session_id": test.session_id,
            "executed": _executed(matches),
            "corrected_later": not passed and _corrected_later(matches),
        }
    )


def _add_missing(scoring: Scoring, test: TestSession, rule: Rule, variant: str | None) -> None:
    scoring.missing_test_sessions.append(test.session_id)
    scoring.results.append({**_result(test, rule, variant or "missing", [], False), "missing": True})
    scoring.runs.append(None)
    scoring.diagnostics.append({"session_id": test.session_id, "executed": None, "corrected_later": False})


def _result(
    test: TestSession, rule: Rule, agent_variant: str, steps: list[StepResult], passed: bool
) -> SessionResult:
    return {
        "session_id": test.session_id,
        "rule_id": test.rule_id,
        "agent_variant": agent_variant,
        "check_type": rule.check_type,
        "domain": test.domain,
        "step_results": steps,
        "task_success": passed,
    }


def _step(index: int, tool: str, match: ActionMatch) -> StepResult:
    return {
        "step_idx": index,
        "required_tool": tool,
        "tool_found": match.call is not None,
        "matched_call_id": match.call.id if match.call else None,
        "args_match": match.passed,
        "arg_mismatches": match.mismatches,
        "passed": match.passed,
    }


def _executed(matches: Sequence[ActionMatch]) -> bool | None:
    answers = [match.call.accepted if match.call else None for match in matches]
    return None if not answers or None in answers else all(answers)


def _corrected_later(matches: Sequence[ActionMatch]) -> bool:
    """Of a failed session."""
    return bool(matches) and all(match.passed or match.corrected_later for match in matches)
