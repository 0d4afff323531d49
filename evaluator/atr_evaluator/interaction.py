"""How the agent used the user's channel in the learning sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_evaluator.asking import asking_of, asks_a_rule_question, rule_coverage
from atr_evaluator.numbers import ratio


def interaction_metrics(episode: Episode, learning: Sequence[Trajectory]) -> dict[str, Any]:
    """Over all given learning sessions, those that are not in the episode included.

    Rates to four decimals; null when there is nothing to divide by.
    """
    asking = asking_of(learning)
    asked = sum(asks_a_rule_question(run.interaction_events) for run in learning)
    classified = len(asking.hits) + asking.misses
    return {
        "total_learning": len(learning),
        "ls_send_calls_routed_rule": asking.routed_rule,
        "ls_send_calls_routed_task": asking.routed_task,
        "ls_cls_hits": len(asking.hits),
        "ls_cls_misses": asking.misses,
        "ls_cls_errors": asking.errors,
        "ls_cls_classified": classified,
        "ls_rule_ask_hit_rate": ratio(len(asking.hits), classified),
        "repeated_hits": asking.repeated_hits,
        "forced_rule_ask_compliance": ratio(asked, len(learning)),
        "rule_coverage": rule_coverage(asking, len(episode.rules), len(learning)),
        **_channel(learning),
    }


def _channel(learning: Sequence[Trajectory]) -> dict[str, Any]:
    """Calls of `send_to_user`, and turns whose text leaked past it, however many events tell of one."""
    events = [(run.session_id, event) for run in learning for event in run.interaction_events]
    count = Counter(event.kind for _, event in events)
    sends, asides, repairs = count["send_event"], count["off_protocol_ask"], count["hook_appended"]
    mixed, duplicated = count["stu_mixed_with_tools"], count["stu_duplicate_same_turn"]
    rescued = sum(event.kind == "send_event" and event.was_hook_rescued for _, event in events)
    native = max(sends - rescued, 0)
    leaks = {
        (session_id, event.turn_idx)
        for session_id, event in events
        if event.kind in ("off_protocol_ask", "hook_appended")
    }
    drops = sum(event.duplicate_count or 0 for _, event in events if event.kind == "stu_duplicate_same_turn")
    token_missing = Counter(
        event.cls_status or "unknown" for _, event in events if event.kind == "rule_hook_token_missing"
    )
    return {
        "ls_send_calls_total": sends,
        "ls_hook_rescued_sends": rescued,
        "ls_native_send_calls": native,
        "ls_off_protocol_asks": asides,
        "ls_hook_appended": repairs,
        "ls_plain_text_leaks": len(leaks),
        "stu_scaffold_rate": ratio(len(leaks), native + len(leaks)),
        "hook_rescue_rate": ratio(rescued, repairs),
        "tool_protocol_compliance": ratio(sends, sends + asides),
        "ls_stu_mixed_turns": mixed,
        "ls_stu_duplicate_turns": duplicated,
        "ls_stu_duplicate_drops": drops,
        "stu_mixed_rate": ratio(mixed, sends),
        "stu_duplicate_rate": ratio(duplicated, sends),
        "ls_rule_hook_token_missing_total": count["rule_hook_token_missing"],
        "ls_rule_hook_token_missing_by_cls": dict(token_missing),
    }
