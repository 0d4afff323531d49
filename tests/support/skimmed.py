"""What can be asked of a trajectory that was read quickly, to hold it against one that was read in full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atr_data import DataError
from atr_data.trajectory import Trajectory


def outcome(read: Callable[[], Trajectory], *, with_prompt: bool = True) -> Any:
    """What a reader gives, or in which words it refuses; without the text of system messages if wanted."""
    try:
        return _told(read(), with_prompt)
    except DataError as error:
        return str(error)


def _told(trajectory: Trajectory, with_prompt: bool) -> dict[str, Any]:
    return {
        **{
            name: getattr(trajectory, name)
            for name in ("session_id", "session_type", "agent_variant", "termination_reason", "step_count")
        },
        "seconds": trajectory.duration_seconds,
        "usage": trajectory.token_usage,
        "context": trajectory.context_sha256,
        "readable": trajectory.rule_readable,
        "events": [
            (e.kind, e.turn_idx, e.rule_id, e.route, e.cls_error, e.duplicate_count)
            for e in trajectory.interaction_events
        ],
        "messages": [
            (
                m.role,
                m.content if with_prompt or m.role != "system" else "",
                m.tool_call_id,
                m.tool_error,
                m.turn_idx,
                [_call(call) for call in m.tool_calls or ()],
            )
            for m in trajectory.messages
        ],
    }


def _call(call: Any) -> tuple[Any, ...]:
    return call.id, call.name, repr(call.arguments), repr(call.sent), call.parse_error, call.text("q")
