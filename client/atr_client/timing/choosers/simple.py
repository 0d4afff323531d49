"""Choosers that read nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from atr_client.timing.choosers.chooser import Seen, User
from atr_client.timing.choosers.drawing import share_of
from atr_data.timing.decisions import Assist
from atr_data.timing.events import Sitting
from atr_data.timing.intents import Intent


class Never:
    """Silence throughout."""

    def begin(self, user: User, sitting: Sitting) -> None:
        pass

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        return None


class Always:
    """An offer at every event, or whenever the last one is `cooldown` seconds ago."""

    def __init__(self, cooldown: float = 0) -> None:
        self._cooldown = cooldown
        self._last = float("-inf")
        self._intent: Intent | None = None

    def begin(self, user: User, sitting: Sitting) -> None:
        self._last, self._intent = float("-inf"), favourite_intent(user)

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        if event.at - self._last < self._cooldown:
            return None
        self._last = event.at
        return Assist(intent=self._intent, target=event.target)


class RateMatched:
    """Offers at random, as often as the user sought help in the past."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._rate = 0.0
        self._intent: Intent | None = None

    def begin(self, user: User, sitting: Sitting) -> None:
        past = sum(not event.self_help for event in user.history())
        self._rate = len(past_needs(user)) / past if past else 0.0
        self._intent = favourite_intent(user)

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        if share_of(self._seed, "rate", event.event_id) >= self._rate:
            return None
        return Assist(intent=self._intent, target=event.target)


def past_needs(user: User) -> list[Intent | None]:
    """The intents of the needs before evaluation."""
    start = user.stream.header.first_evaluation_day
    return [need.intent for need in user.gold.needs if need.t_onset < start]


def favourite_intent(user: User) -> Intent | None:
    """What the user sought most often in the past."""
    counts = Counter[Intent](intent for intent in past_needs(user) if intent is not None)
    return min(counts, key=lambda intent: (-counts[intent], intent)) if counts else None
