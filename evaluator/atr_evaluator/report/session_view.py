"""One session as the report's reader shows it: what was expected, what was done, and every message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import InteractionEvent, Message, Trajectory
from atr_evaluator.agent_calls import transcript_calls
from atr_evaluator.asking import asking_of

_MEMORY = re.compile(r"(?<=<context>\n).*(?=\n</context>)", re.DOTALL)

INDEX = (
    "cell",
    "session",
    "type",
    "domain",
    "check_type",
    "outcome",
    "loss_class",
    "ended",
    "steps",
    "calls",
    "asks",
    "hits",
)
"""The columns of the list of sessions; `cell` is a number."""


def session_document(
    trajectory: Trajectory, episode: Episode, result: Mapping[str, Any] | None, loss: Mapping[str, Any] | None
) -> dict[str, Any]:
    """`result` and `loss` are the session's entries of `eval.json`; None for a learning session.

    The memory text is left out of the system message: it follows from the learning sessions, and would make
    the report grow with their square.
    """
    sessions = (*episode.learning_sessions, *episode.test_sessions)
    session = next((one for one in sessions if one.session_id == trajectory.session_id), None)
    reason = " / ".join(filter(None, (trajectory.termination_reason, trajectory.termination_subreason)))
    return {
        "ended": f"{reason} after {trajectory.step_count} steps, {trajectory.duration_seconds} s",
        "tokens": {
            role: [usage.prompt_tokens, usage.completion_tokens, usage.calls]
            for role, usage in sorted(trajectory.token_usage.items())
        },
        "expected": list(_expected(session, episode)),
        "done": list(_done(trajectory, result, loss)),
        "messages": [_message(message) for message in trajectory.messages],
        "events": [_event(event) for event in trajectory.interaction_events],
    }


def index_row(
    cell: int,
    trajectory: Trajectory,
    episode: Episode,
    result: Mapping[str, Any] | None,
    loss: Mapping[str, Any] | None,
) -> list[Any]:
    """What `INDEX` names."""
    sessions = (*episode.learning_sessions, *episode.test_sessions)
    domains = {session.session_id: session.domain for session in sessions}
    asking = asking_of([trajectory]) if trajectory.session_type == "learning" else None
    outcome = "" if result is None else "passed" if result["task_success"] else "failed"
    return [
        cell,
        trajectory.session_id,
        trajectory.session_type,
        domains.get(trajectory.session_id, ""),
        (result or {}).get("check_type", ""),
        outcome,
        (loss or {}).get("loss_class", ""),
        trajectory.termination_reason,
        trajectory.step_count,
        len(transcript_calls(trajectory)),
        asking.routed_rule if asking else 0,
        len(asking.hits) if asking else 0,
    ]


def _expected(session: LearningSession | TestSession | None, episode: Episode) -> Iterator[list[Any]]:
    """Pairs of a name and a value."""
    if session is None:
        yield ["session", "is not in the episode"]
    elif isinstance(session, LearningSession):
        yield ["reason for the call", session.reason_for_call]
        yield ["particulars", session.task_params]
        for step in session.gold_trajectory:
            yield [f"guided: {step.tool}", step.arguments]
    else:
        if rule := episode.rule(session.rule_id):
            yield ["rule", f"{rule.rule_id} ({rule.check_type})"]
            yield ["the user's answer", rule.canonical_answer]
        for action in session.labels.task_success.required_actions:
            compared = {name: action.arguments.get(name) for name in action.compare_args or ()}
            yield [f"call of {action.tool}", compared or "with any arguments"]


def _done(
    trajectory: Trajectory, result: Mapping[str, Any] | None, loss: Mapping[str, Any] | None
) -> Iterator[list[Any]]:
    if result is not None:
        yield ["outcome", "passed" if result["task_success"] else "failed"]
        yield ["class", (loss or {}).get("loss_class", "not recorded")]
        if trajectory.rule_readable is not None:
            yield ["the rule", "could be read" if trajectory.rule_readable else "could not be read"]
        for step in result["step_results"]:
            for name, (gold, actual) in step["arg_mismatches"].items():
                yield [f"{step['required_tool']}.{name}", {"expected": gold, "came": actual}]
    for one in transcript_calls(trajectory):
        refused = one.answer is not None and bool(one.answer.tool_error)
        yield [f"called {one.call.name}{' (refused)' if refused else ''}", one.call.arguments]
    if trajectory.session_type == "learning":
        asking = asking_of([trajectory])
        yield ["questions about rules", asking.routed_rule]
        yield ["rules heard", sorted(asking.sessions_by_rule)]


def _message(message: Message) -> dict[str, Any]:
    content = message.content
    if message.role == "system" and content:
        content = _MEMORY.sub(lambda memory: f"[memory, {len(memory[0]):,} characters]", content)
    told: dict[str, Any] = {"role": message.role, "turn": message.turn_idx}
    if content:
        told["text"] = content
    if message.reasoning_content:
        told["thinking"] = message.reasoning_content
    if message.tool_calls:
        told["calls"] = [[call.name, call.arguments, call.parse_error] for call in message.tool_calls]
    if message.tool_error:
        told["error"] = True
    return told


def _event(event: InteractionEvent) -> list[Any]:
    """The turn, the kind, and what is told beside."""
    told = event.model_dump(exclude_defaults=True, exclude={"kind", "turn_idx", "output"})
    return [event.turn_idx, event.kind, told]
