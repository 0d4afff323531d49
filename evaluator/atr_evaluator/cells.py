"""The eight cells: was a rule covered by a learning session, hit by a question, passed in its test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

from atr_data.episode import Episode
from atr_evaluator.asking import HeldSession
from atr_evaluator.sessions import SessionResult


def cell_counts(
    episode: Episode, learning: Sequence[HeldSession], results: Sequence[SessionResult]
) -> dict[str, int]:
    """Rules per cell. Rules without a session result are in none; of several results the last counts."""
    covered = set(episode.metadata.selected_rules or ())
    hit = {hit.rule_id for session in learning for hit in session.asking.hits}
    passed = {result["rule_id"]: result["task_success"] for result in results}
    counts = Counter(
        _cell(rule.rule_id in covered, rule.rule_id in hit, passed[rule.rule_id])
        for rule in episode.rules
        if rule.rule_id in passed
    )
    return {name: counts[name] for name in (_cell(*flags) for flags in product((True, False), repeat=3))}


def _cell(covered: bool, hit: bool, passed: bool) -> str:
    return "_".join(
        ("covered" if covered else "uncovered", "hit" if hit else "miss", "pass" if passed else "fail")
    )
