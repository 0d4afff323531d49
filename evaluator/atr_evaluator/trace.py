"""The gold check that is appended to the trace of a test session."""

from __future__ import annotations

import json
from typing import Any

from atr_evaluator.sessions import SessionResult, StepResult

FOOTER_TITLE = "=== gold check ==="


def trace_footer(result: SessionResult) -> str:
    """Says in a few lines what was required, what came, and whether it passed. Ends with a newline."""
    verdict = "PASS" if result["task_success"] else "FAIL"
    kind = f"{result['check_type']}, {result['domain']}"
    lines = [FOOTER_TITLE, f"{verdict} {result['session_id']}: rule {result['rule_id']} ({kind})"]
    if result.get("missing"):
        lines.append("the session has no trajectory")
    elif not result["step_results"]:
        lines.append("the session requires no action, which counts as a failure")
    for step in result["step_results"]:
        lines.append(f"{step['step_idx'] + 1}. {step['required_tool']}: {_verdict(step)}")
        lines += [
            f"   {name}: gold {_text(gold)}, agent {_text(actual)}"
            for name, (gold, actual) in step["arg_mismatches"].items()
        ]
    return "\n".join(lines) + "\n"


def _verdict(step: StepResult) -> str:
    if not step["tool_found"]:
        return "never called"
    return f"{'matched' if step['args_match'] else 'other arguments'} (call {step['matched_call_id']})"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
