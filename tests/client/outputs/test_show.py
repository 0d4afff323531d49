"""Readable transcripts."""

from __future__ import annotations

from atr_client.outputs.transcript_text import transcript_text
from atr_data.trajectory import InteractionEvent, Message, ToolCall, Trajectory
from atr_data.usage import Usage


def _trajectory() -> Trajectory:
    calls = [ToolCall(id="c1", name="list_files", arguments={"é": 1}, parse_error="not an object")]
    return Trajectory(
        session_id="l0",
        session_type="learning",
        agent_variant="atr",
        messages=[
            Message(role="system", content="be good", turn_idx=0),
            Message(role="user", content="hello\nthere", turn_idx=1),
            Message(role="assistant", content=None, reasoning_content="hm", tool_calls=calls, turn_idx=2),
            Message(role="tool", content='{"error": "x"}', tool_call_id="c1", tool_error=True, turn_idx=3),
        ],
        termination_reason="task_no_progress",
        termination_subreason="tool_loop",
        step_count=1,
        token_usage={"agent": Usage(prompt_tokens=7, completion_tokens=3, calls=1)},
        interaction_events=[
            InteractionEvent(kind="route_decision", turn_idx=2, route="rule", rule_question_span="How?"),
            InteractionEvent(kind="cls_verdict", turn_idx=2, rule_id=None),
        ],
    )


def test_a_transcript_shows_everything_that_happened_in_order() -> None:
    text = transcript_text(_trajectory())
    expected = [
        "session l0 (learning, variant atr)",
        "task_no_progress / tool_loop after 1 steps",
        "[0] system",
        "    be good",
        "[1] user",
        "    there",
        "[2] assistant",
        "    (thinking) hm",
        '    -> list_files({"é": 1})  #c1',
        "arguments could not be read: not an object",
        '    * router (rule: "How?")',
        "    * classifier (no rule)",
        "[3] tool to c1 ERROR",
        "tokens agent: 7 in, 3 out, 1 calls",
    ]
    positions = [text.index(part) for part in expected]
    assert positions == sorted(positions)
    assert text.endswith("\n")
