"""How the agent used the user's channel in the learning sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from atr_data.episode import Episode
from atr_evaluator.asking import HeldSession, pooled_asking, rule_coverage
from atr_evaluator.numbers import ratio


def interaction_metrics(episode: Episode, learning: Sequence[HeldSession]) -> dict[str, Any]:
    """Over all given learning sessions, those that are not in the episode included.

    Rates to four decimals; null when there is nothing to divide by.
    """
    asking = pooled_asking(learning)
    asked = sum(session.asking.routed_rule > 0 for session in learning)
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


def _channel(learning: Sequence[HeldSession]) -> dict[str, Any]:
    """Calls of `send_to_user`, and turns whose text leaked past it, however many events tell of one."""
    count: Counter[str] = Counter()
    token_missing: Counter[str] = Counter()
    leaks: set[tuple[str, int]] = set()
    rescued = drops = 0
    for session in learning:
        count.update([event.kind for event in session.events])
        for event in session.events:
            if (kind := event.kind) == "send_event":
                rescued += event.was_hook_rescued
            elif kind in ("off_protocol_ask", "hook_appended"):
                leaks.add((session.session_id, event.turn_idx))
            elif kind == "stu_duplicate_same_turn":
                drops += event.duplicate_count or 0
            elif kind == "rule_hook_token_missing":
                token_missing[event.cls_status or "unknown"] += 1
    sends, asides, repairs = count["send_event"], count["off_protocol_ask"], count["hook_appended"]
    mixed, duplicated = count["stu_mixed_with_tools"], count["stu_duplicate_same_turn"]
    native = max(sends - rescued, 0)
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
