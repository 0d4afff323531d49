"""A trajectory as text that a person can read."""

from __future__ import annotations

import json
from collections.abc import Iterator

from atr_client.models.meter import cost_text, dollars
from atr_data.trajectory import InteractionEvent, Message, Trajectory

_EVENT_LABELS = {
    "send_event": "sent to the user",
    "route_decision": "router",
    "cls_verdict": "classifier",
    "rule_hook_token_missing": "answer token missing",
    "off_protocol_ask": "off-protocol text reached the user",
    "hook_appended": "repair note",
    "stu_mixed_with_tools": "send_to_user mixed with other calls",
    "stu_duplicate_same_turn": "send_to_user more than once in a turn",
}


def transcript_text(trajectory: Trajectory) -> str:
    """The whole session. Ends with a newline."""
    return "\n".join(_lines(trajectory)) + "\n"


def _lines(trajectory: Trajectory) -> Iterator[str]:
    reason = " / ".join(filter(None, (trajectory.termination_reason, trajectory.termination_subreason)))
    yield f"session {trajectory.session_id} ({trajectory.session_type}, variant {trajectory.agent_variant})"
    yield f"{reason} after {trajectory.step_count} steps, {trajectory.duration_seconds} s"
    for message in trajectory.messages:
        yield ""
        yield from _message(message)
        for event in trajectory.interaction_events:
            if event.turn_idx == message.turn_idx:
                yield f"    * {_event(event)}"
    for role, usage in sorted(trajectory.token_usage.items()):
        yield ""
        yield (
            f"tokens {role}: {usage.prompt_tokens} in, {usage.completion_tokens} out, {usage.calls} calls, "
            f"cost {cost_text(usage) or dollars(0)}"
        )
    if trajectory.reply_faults:
        counts = (f"{name} {count}" for name, count in trajectory.reply_faults.items())
        yield f"faulty replies: {', '.join(counts)}"


def _message(message: Message) -> Iterator[str]:
    mark = " ERROR" if message.tool_error else ""
    answers = f" to {message.tool_call_id}" if message.tool_call_id else ""
    yield f"[{message.turn_idx}] {message.role}{answers}{mark}"
    if message.reasoning_content:
        yield from _indented(f"(thinking) {message.reasoning_content}")
    if message.content:
        yield from _indented(message.content)
    for call in message.tool_calls or ():
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        yield f"    -> {call.name}({arguments})  #{call.id}"
        if call.parse_error:
            yield f"       arguments could not be read: {call.parse_error}"


def _indented(text: str) -> Iterator[str]:
    return (f"    {line}" if line else "" for line in text.split("\n"))


def _event(event: InteractionEvent) -> str:
    match event.kind:
        case "route_decision":
            detail = f"{event.route}" + (
                f': "{event.rule_question_span}"' if event.rule_question_span else ""
            )
        case "cls_verdict":
            detail = event.rule_id or "no rule"
        case "send_event":
            detail = f"reason: {event.reason}"
        case "stu_mixed_with_tools":
            detail = ", ".join(event.sibling_tool_names or ())
        case "stu_duplicate_same_turn":
            detail = f"{event.duplicate_count} dropped"
        case "rule_hook_token_missing":
            detail = f"attempt {event.attempt_idx}"
        case _:
            detail = event.question or ""
    return f"{_EVENT_LABELS[event.kind]} ({detail})" if detail else _EVENT_LABELS[event.kind]
