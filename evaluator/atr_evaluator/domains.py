"""The asking of the learning sessions, domain by domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from atr_data.episode import Episode
from atr_evaluator.asking import HeldSession, pooled_asking, rule_coverage
from atr_evaluator.numbers import ratio


def asking_by_domain(episode: Episode, learning: Sequence[HeldSession]) -> dict[str, Any]:
    """`ls_by_domain`: every domain that has a learning session among the given ones or a test session.

    Sessions that are not in the episode have no domain and count nowhere here. The rules of a domain are
    those tested in it, each counted once, in the domain of its last test.
    """
    domain_of = {session.session_id: session.domain for session in episode.learning_sessions}
    held: dict[str, list[HeldSession]] = {session.domain: [] for session in episode.test_sessions}
    for session in learning:
        if session.session_id in domain_of:
            held.setdefault(domain_of[session.session_id], []).append(session)
    tested_in = {session.rule_id: session.domain for session in episode.test_sessions}
    rules = Counter(tested_in.values())
    return {domain: _domain(held[domain], rules[domain]) for domain in sorted(held)}


def _domain(learning: Sequence[HeldSession], rules: int) -> dict[str, Any]:
    asking = pooled_asking(learning)
    hits = len(asking.hits)
    misses = max(asking.routed_rule - hits - asking.errors, 0)
    return {
        "total_learning": len(learning),
        "ls_send_calls_routed_rule": asking.routed_rule,
        "ls_cls_hits": hits,
        "ls_cls_errors": asking.errors,
        "ls_cls_misses": misses,
        "ls_cls_classified": hits + misses,
        "ls_rule_ask_hit_rate": ratio(hits, hits + misses),
        "rule_coverage": rule_coverage(asking, rules, len(learning)),
    }
