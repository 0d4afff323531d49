"""Whole sessions, driven by scripts, come out as they must."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from atr_client.errors import CellAbort
from atr_client.session.environments import open_environment
from atr_client.session.recorder import SessionRecorder
from atr_client.session.session_runner import run_session
from atr_client.session.turns import SessionSettings
from atr_data.calls import CallLog
from atr_data.episode import Episode, LearningSession, Rule, TestSession
from atr_data.trajectory import InteractionEvent, Message, Trajectory
from atr_user_sim import simulated_user
from tests.support.scripted import (
    ScriptedAgent,
    ScriptedClassifier,
    ScriptedEnvironment,
    ScriptedRouter,
    ScriptedSimulator,
    Scripts,
)
from tests.support.vectors import Case, first, read_jsonl, report

CONFIRMATION = "get_user_confirmation"
UNKNOWN = re.compile(r"Unknown tool: \S+")


def _episode(case: Case) -> Episode:
    session = case["session"]
    kind = "learning_sessions" if session["session_type"] == "learning" else "test_sessions"
    return Episode.model_validate(
        {
            "episode_id": "pp_seed000",
            "raw_persona": {"persona_id": "pp", "narrative": "n"},
            "structured_persona": {},
            "rules": case["rules"],
            "learning_sessions": [],
            "test_sessions": [],
            kind: [session],
        }
    )


async def _run(case: Case, folder: Path) -> dict[str, Any]:
    episode = _episode(case)
    session: LearningSession | TestSession = [*episode.learning_sessions, *episode.test_sessions][0]
    scripts = Scripts(
        agent=case["agent_script"],
        router=case["router_script"],
        classifier=case["classifier_script"],
        user_sim=case["user_sim_script"],
        tool=case["tool_script"],
        opening=case["user_open"],
    )
    agent = ScriptedAgent(scripts)
    rules = [Rule.model_validate(rule) for rule in case["rules"]]
    user = simulated_user(
        ScriptedRouter(scripts), ScriptedClassifier(scripts), ScriptedSimulator(scripts), rules
    )
    settings = SessionSettings(case["max_steps"], case["timeout"], case["hook"])

    async def run(environment: Any) -> Trajectory:
        return await run_session(
            episode=episode,
            session=session,
            variant=case["variant"],
            model=agent,
            memory_context=case["context"],
            user=user,
            environment=environment,
            settings=settings,
        )

    try:
        if case["env"] == "scripted":
            trajectory = await run(ScriptedEnvironment(scripts, [CONFIRMATION, *session.local_env.tools]))
        else:
            with CallLog(folder / f"{case['case_id']}.jsonl") as log:
                recorder = SessionRecorder(log, 1, session.session_id, session.session_type, case["variant"])
                async with open_environment(episode, session, recorder) as environment:
                    trajectory = await run(environment)
    except CellAbort as abort:
        return {
            "abort": {"module": abort.module, "session_id": abort.session_id},
            "calls": scripts.calls,
            "consumed": scripts.consumed,
        }
    return {
        **_written(trajectory),
        "tools_offered": agent.offered,
        "calls": scripts.calls,
        "consumed": scripts.consumed,
    }


def _written(trajectory: Trajectory) -> dict[str, Any]:
    """The trajectory as the vectors tell it, after a round trip through JSON."""
    again = Trajectory.model_validate_json(trajectory.model_dump_json())
    return {
        "messages": [_message(m) for m in again.messages],
        "events": [_event(e) for e in again.interaction_events],
        "termination_reason": again.termination_reason,
        "termination_subreason": again.termination_subreason,
        "step_count": again.step_count,
        "token_usage": {role: usage.counters() for role, usage in again.token_usage.items()},
    }


def _message(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "turn_idx": message.turn_idx}
    if message.role != "system":
        told["content"] = message.content
    if message.tool_calls is not None:
        told["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
        ]
    if message.role == "tool":
        told |= {"tool_call_id": message.tool_call_id, "tool_error": message.tool_error}
    if message.reasoning_content is not None:
        told["reasoning_content"] = message.reasoning_content
    return told


def _event(event: InteractionEvent) -> dict[str, Any]:
    told = event.model_dump(exclude_none=True, exclude={"was_hook_rescued", "cls_error"})
    if event.kind == "send_event":
        told["was_hook_rescued"] = event.was_hook_rescued
    if event.kind == "cls_verdict":
        told["rule_id"] = event.rule_id
    if event.kind == "route_decision":
        told["rule_question_span"] = event.rule_question_span
    return told


def _comparable(outcome: dict[str, Any], *, real: bool) -> dict[str, Any]:
    """Drops what is never compared: the reason made up for a leak, and error texts of real tools."""
    outcome = json.loads(json.dumps(outcome))
    leak_reasons = [call for call in outcome["calls"] if call["role"] == "router"]
    for call in leak_reasons:
        if call["reason"] is None or call["reason"].endswith(f"\n{call['output']}"):
            call["reason"] = None
    if real:
        for message in outcome.get("messages", []):
            if message["role"] == "tool":
                message["content"] = _tool_text(json.loads(message["content"]))
        for call in outcome["calls"]:
            for entry in call.get("history", []):
                head, _, _ = entry["content"].partition("→ error: ")
                entry["content"] = head
        offered = outcome.get("tools_offered") or []
        outcome["tools_offered"] = [*offered[:2], sorted(offered[2:])]
    return outcome


def _tool_text(body: Any) -> Any:
    """A tool's answer; of error texts only `Unknown tool: NAME` is compared."""
    if isinstance(body, dict) and "error" in body and not UNKNOWN.fullmatch(body["error"]):
        return {"error": "*"}
    return body


def _agrees(case: Case, folder: Path) -> bool:
    real = case["env"] == "real"
    outcome = anyio.run(_run, case, folder)
    return _comparable(outcome, real=real) == _comparable(case["expected"], real=real)


def test_protocol_sessions_agree(conformance_dir: Path, tmp_path: Path) -> None:
    cases = read_jsonl(conformance_dir / "protocol.jsonl.gz")
    report("protocol.jsonl.gz", cases, lambda case: _agrees(case, tmp_path))


def test_a_flipped_expectation_is_noticed(conformance_dir: Path, tmp_path: Path) -> None:
    case = first(read_jsonl(conformance_dir / "protocol.jsonl.gz"))
    case["expected"]["step_count"] += 1
    with pytest.raises(AssertionError, match="0/1 agree"):
        report("protocol.jsonl.gz", [case], lambda case: _agrees(case, tmp_path))
