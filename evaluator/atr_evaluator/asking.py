"""What the asking of one or more learning sessions brought: questions, verdicts, rules covered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from atr_data.trajectory import InteractionEvent, Trajectory
from atr_evaluator.numbers import ratio


@dataclass(frozen=True, slots=True)
class Hit:
    """A classifier verdict that named a rule, and the learning session it was given in. The rule id is taken
    as it is: it may be no rule of the episode."""

    rule_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Asking:
    """`routed_rule` and `routed_task` count the routed turns, leaks included; a turn without a route counts
    in neither. A verdict that the classifier failed to give is an error whatever rule it names."""

    routed_rule: int
    routed_task: int
    hits: list[Hit]
    misses: int
    errors: int

    @property
    def repeated_hits(self) -> dict[str, int]:
        """Rule id -> number of hits."""
        return {rule_id: len(sessions) for rule_id, sessions in self.sessions_by_rule.items()}

    @property
    def sessions_by_rule(self) -> dict[str, list[str]]:
        """Rule id -> the session of each of its hits, in order."""
        sessions: dict[str, list[str]] = {}
        for hit in self.hits:
            sessions.setdefault(hit.rule_id, []).append(hit.session_id)
        return sessions


def asking_of(learning: Iterable[Trajectory]) -> Asking:
    """Counts over the events of learning sessions."""
    events = [(run.session_id, event) for run in learning for event in run.interaction_events]
    routes = [event.route for _, event in events if event.kind == "route_decision"]
    verdicts = [(session_id, event) for session_id, event in events if event.kind == "cls_verdict"]
    given = [(session_id, event) for session_id, event in verdicts if not event.cls_error]
    hits = [Hit(event.rule_id, session_id) for session_id, event in given if event.rule_id]
    return Asking(
        routed_rule=routes.count("rule"),
        routed_task=routes.count("task"),
        hits=hits,
        misses=len(given) - len(hits),
        errors=len(verdicts) - len(given),
    )


def asks_a_rule_question(events: Sequence[InteractionEvent]) -> bool:
    return any(event.kind == "route_decision" and event.route == "rule" for event in events)


def rule_coverage(asking: Asking, rules: int, sessions: int) -> dict[str, Any]:
    """The distinct rules hit out of `rules`; the ratio is null without rules or learning sessions."""
    by_rule = asking.sessions_by_rule
    return {
        "hit_count": len(by_rule),
        "total": rules,
        "ratio": ratio(len(by_rule), rules) if sessions else None,
        "per_rule_hit_map": by_rule,
    }
