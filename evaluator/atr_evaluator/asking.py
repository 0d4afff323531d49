"""What the asking of one or more learning sessions brought: questions, verdicts, rules covered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from atr_data.trajectory import InteractionEvent, Trajectory
from atr_evaluator.numbers import ratio


class Hit(NamedTuple):
    """A classifier verdict that named a rule, and the learning session it was given in. The rule id is taken
    as it is: it may be no rule of the episode."""

    rule_id: str
    session_id: str


class Asking(NamedTuple):
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


class HeldSession(NamedTuple):
    """A learning session that was held, and what its asking brought."""

    session_id: str
    events: Sequence[InteractionEvent]
    asking: Asking


def held_sessions(learning: Iterable[Trajectory]) -> list[HeldSession]:
    return [HeldSession(run.session_id, run.interaction_events, asking_of([run])) for run in learning]


def asking_of(learning: Iterable[Trajectory]) -> Asking:
    """Counts over the events of learning sessions."""
    routed_rule = routed_task = misses = errors = 0
    hits: list[Hit] = []
    for run in learning:
        for event in run.interaction_events:
            if (kind := event.kind) == "route_decision":
                routed_rule += event.route == "rule"
                routed_task += event.route == "task"
            elif kind == "cls_verdict":
                if event.cls_error:
                    errors += 1
                elif event.rule_id:
                    hits.append(Hit(event.rule_id, run.session_id))
                else:
                    misses += 1
    return Asking(routed_rule, routed_task, hits, misses, errors)


def pooled_asking(sessions: Iterable[HeldSession]) -> Asking:
    """Over all of them."""
    found = [session.asking for session in sessions]
    return Asking(
        routed_rule=sum(asking.routed_rule for asking in found),
        routed_task=sum(asking.routed_task for asking in found),
        hits=[hit for asking in found for hit in asking.hits],
        misses=sum(asking.misses for asking in found),
        errors=sum(asking.errors for asking in found),
    )


def rule_coverage(asking: Asking, rules: int, sessions: int) -> dict[str, Any]:
    """The distinct rules hit out of `rules`; the ratio is null without rules or learning sessions."""
    by_rule = asking.sessions_by_rule
    return {
        "hit_count": len(by_rule),
        "total": rules,
        "ratio": ratio(len(by_rule), rules) if sessions else None,
        "per_rule_hit_map": by_rule,
    }
