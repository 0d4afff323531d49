"""Trajectories for the original benchmark's reader."""

from __future__ import annotations

import json
from typing import Any

from atr_data.trajectory import Trajectory

_OURS = {"reply_faults", "context_sha256", "rule_readable", "readability", "retention", "memory_use"}
_TERMINATIONS = {"context_overflow": "error"}
"""Reasons that the original does not know, and what stands for them there."""


def for_original(trajectory: Trajectory) -> str:
    """The trajectory as JSON with the fields and reasons that the original knows, and no others."""
    document: dict[str, Any] = trajectory.model_dump(mode="json", exclude=_OURS)
    reason = document["termination_reason"]
    document["termination_reason"] = _TERMINATIONS.get(reason, reason)
    for usage in document["token_usage"].values():
        for name in ("calls_without_usage", "cost_usd", "estimated_usd"):
            del usage[name]
    for message in document["messages"]:
        for call in message["tool_calls"] or ():
            del call["parse_error"], call["raw_arguments"]
    return json.dumps(document, ensure_ascii=False, indent=2)
