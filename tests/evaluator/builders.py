"""Small episodes, trajectories and call logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atr_data.calls import CallLog, CallRecord, LogRecord, SessionEnd, SessionStart
from atr_data.episode import Episode
from atr_data.trajectory import Trajectory

CallSpec = tuple[str, dict[str, Any]]
"""Tool and arguments."""

TOOL = "archive_files"


def action(tool: str = TOOL, arguments: dict[str, Any] | None = None, compare: Any = None) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments or {}, "compare_args": compare}


def episode(
    *tests: Sequence[dict[str, Any]],
    learning: int = 0,
    domains: Sequence[str] = ("workspace",),
    check_types: Sequence[str] = ("param_id",),
    selected: list[str] | None = None,
    rules: Sequence[str] | None = None,
) -> Episode:
    """One test session per list of required actions: `ts_0` tests rule `r_0`, and so on."""
    return Episode.model_validate(
        {
            "episode_id": "pp_seed000",
            "raw_persona": {"persona_id": "pp", "narrative": "n"},
            "structured_persona": {},
            "rules": [
                {
                    "rule_id": rule_id,
                    "rule_text": "t",
                    "canonical_answer": "a",
                    "check_type": check_types[index % len(check_types)],
                    "action_step": {"tool": TOOL},
                }
                for index, rule_id in enumerate(
                    [f"r_{index}" for index in range(len(tests))] if rules is None else rules
                )
            ],
            "learning_sessions": [
                {
                    "session_id": f"ls_{index}",
                    "day_offset": index,
                    "domain": domains[index % len(domains)],
                    "reason_for_call": "r",
                    "task_params": {},
                    "expected_tools": [],
                    "gold_trajectory": [],
                    "local_env": {"tools": []},
                }
                for index in range(learning)
            ],
            "test_sessions": [
                {
                    "session_id": f"ts_{index}",
                    "domain": domains[index % len(domains)],
                    "rule_id": f"r_{index}",
                    "instruction": "i",
                    "local_env": {"tools": []},
                    "labels": {"task_success": {"required_actions": list(actions)}},
                }
                for index, actions in enumerate(tests)
            ],
            "metadata": {"selected_rules": selected},
        }
    )


def trajectory(
    session_id: str,
    *batches: Sequence[CallSpec],
    variant: str = "atr",
    errors: Sequence[str] = (),
    events: Sequence[dict[str, Any]] = (),
    **fields: Any,
) -> Trajectory:
    """A session that made these calls, one batch per assistant message. Calls are numbered `c0`, `c1`, ...
    through the session; those in `errors` were refused by the environment."""
    messages: list[dict[str, Any]] = [{"role": "system", "turn_idx": 0}, {"role": "user", "turn_idx": 1}]
    number = 0
    for batch in batches:
        calls = [
            {"id": f"c{number + offset}", "name": tool, "arguments": arguments}
            for offset, (tool, arguments) in enumerate(batch)
        ]
        number += len(calls)
        messages.append({"role": "assistant", "tool_calls": calls, "turn_idx": len(messages)})
        messages += [
            {
                "role": "tool",
                "content": "{}",
                "tool_call_id": call["id"],
                "tool_error": call["id"] in errors,
                "turn_idx": len(messages) + offset,
            }
            for offset, call in enumerate(calls)
        ]
    return Trajectory.model_validate(
        {
            "session_id": session_id,
            "session_type": "learning" if session_id.startswith("ls_") else "test",
            "agent_variant": variant,
            "messages": messages,
            "interaction_events": list(events),
            **fields,
        }
    )


def log_of(trajectories: Sequence[Trajectory], *, attempt: int = 1) -> list[LogRecord]:
    """What a run that produced these trajectories wrote into its call log."""
    records: list[LogRecord] = []
    for run in trajectories:
        stamp: dict[str, Any] = {
            "attempt": attempt,
            "session_id": run.session_id,
            "session_type": run.session_type,
            "variant": run.agent_variant,
        }
        answers = {m.tool_call_id: m for m in run.messages if m.role == "tool"}
        records.append(SessionStart(**stamp))
        for message in run.messages:
            for call in message.tool_calls or ():
                records.append(
                    CallRecord(
                        **stamp,
                        turn_idx=message.turn_idx,
                        call_id=call.id,
                        caller="agent",
                        server="workspace",
                        tool=call.name,
                        arguments=call.arguments,
                        result="{}",
                        is_error=bool(answers[call.id].tool_error),
                        seconds=0.0,
                    )
                )
        records.append(SessionEnd(**stamp))
    return records


def write_cell(folder: Path, trajectories: Sequence[Trajectory], *, log: bool = False) -> Path:
    """A cell's folder with its trajectories and, with `log`, its call log."""
    (folder / "trajectories").mkdir(parents=True)
    for run in trajectories:
        path = folder / "trajectories" / f"{run.session_id}.json"
        path.write_text(run.model_dump_json(), encoding="utf-8")
    if log:
        with CallLog(folder / "calls.jsonl") as calls:
            for record in log_of(trajectories):
                calls.append(record)
    return folder
