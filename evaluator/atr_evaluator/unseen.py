"""What cannot be told of an agent that played from outside: only its calls came through."""

from __future__ import annotations

from dataclasses import replace

from atr_evaluator.evaluate import Evaluation

UNSEEN = (
    "hook_rescue_rate",
    "ls_hook_appended",
    "ls_hook_rescued_sends",
    "ls_native_send_calls",
    "ls_off_protocol_asks",
    "ls_plain_text_leaks",
    "ls_stu_duplicate_drops",
    "ls_stu_duplicate_turns",
    "ls_stu_mixed_turns",
    "step_stats",
    "stu_duplicate_rate",
    "stu_mixed_rate",
    "stu_scaffold_rate",
    "tool_protocol_compliance",
)
"""Metrics of text that leaked, of its repair, and of calls that came in one turn."""


def without_unseen(evaluation: Evaluation) -> Evaluation:
    """The evaluation with these metrics null, and the agent's tokens."""
    metrics = evaluation.document["metrics"] | dict.fromkeys(UNSEEN)
    if metrics["token_usage_total"] is not None:
        metrics["token_usage_total"] = {**metrics["token_usage_total"], "agent": None}
    return replace(
        evaluation,
        document={**evaluation.document, "metrics": metrics},
        not_available=sorted({*evaluation.not_available, *UNSEEN, "token_usage_total.agent"}),
    )
