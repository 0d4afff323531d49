"""Asking as it went on: what each learning session brought, in the order in which they were held."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from atr_data.episode import Episode
from atr_evaluator.asking import HeldSession


class SessionAsking(TypedDict):
    """`asks` are the turns routed as questions about standing rules; of the verdicts on them `hits` named a
    rule, `repeats` among those one that had been named before, `misses` none, `errors` failed."""

    session_id: str
    asks: int
    hits: int
    repeats: int
    misses: int
    errors: int


def asking_by_session(episode: Episode, learning: Iterable[HeldSession]) -> list[SessionAsking]:
    """One entry per learning session of the episode that was held."""
    held = {session.session_id: session.asking for session in learning}
    heard: set[str] = set()
    found: list[SessionAsking] = []
    for session in episode.ordered_learning_sessions():
        if (asking := held.get(session.session_id)) is None:
            continue
        repeats = 0
        for hit in asking.hits:
            repeats += hit.rule_id in heard
            heard.add(hit.rule_id)
        found.append(
            {
                "session_id": session.session_id,
                "asks": asking.routed_rule,
                "hits": len(asking.hits),
                "repeats": repeats,
                "misses": asking.misses,
                "errors": asking.errors,
            }
        )
    return found
