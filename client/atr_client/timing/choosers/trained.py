"""Trained choosers: `surface` knows no word, `ngram` also words of others, `ngram-own` the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from atr_client.timing.choosers.chooser import Seen, User
from atr_client.timing.choosers.guessing import ContentGuess
from atr_client.timing.choosers.learning import (
    SILENCE,
    Estimate,
    Policy,
    best_policy,
    labelled_past,
    rehearse,
)
from atr_client.timing.choosers.logistic import Logistic
from atr_client.timing.choosers.stumps import Boosting
from atr_client.timing.choosers.surface import surface_features
from atr_client.timing.choosers.words import window_features
from atr_data.timing.decisions import Assist
from atr_data.timing.events import Sitting

Offer = Callable[[Seen, Sequence[Seen]], Assist]
KEPT = 0.08
"""Share of the moments without a need that are learned from."""


class Trained:
    """Offers help where an estimate passes a policy."""

    def __init__(self, estimate: Estimate, policy: Policy, content: Callable[[User], Offer]) -> None:
        self._estimate, self._policy, self._content = estimate, policy, content
        self._offers: dict[str, Offer] = {}
        self._user: User | None = None
        self._last = float("-inf")

    def begin(self, user: User, sitting: Sitting) -> None:
        self._user, self._last = user, float("-inf")

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        user = self._user
        if user is None or self._policy == SILENCE or event.at - self._last < self._policy.cooldown:
            return None
        if self._estimate(user, event, seen) < self._policy.chance:
            return None
        self._last = event.at
        if user.user_id not in self._offers:
            self._offers[user.user_id] = self._content(user)
        return self._offers[user.user_id](event, seen)


def guessed_content(user: User) -> Offer:
    """What a chooser of its own can find out."""
    return ContentGuess(user).offer


def train_surface(others: Sequence[User]) -> Estimate:
    """Gradient boosting on what a moment looks like from outside."""
    return _boost(others, surface_features_of)


def train_ngram(others: Sequence[User], salt: Callable[[User], str]) -> Estimate:
    """All that `train_surface` knows, and what the words of the window say: half of the users teach the
    words, the others how far to trust them. `salt` tells under which a user's words are hashed."""
    half = len(others) // 2
    words = train_words(others[:half] or others, salt, whole=True)

    def features(user: User, event: Seen, seen: Sequence[Seen]) -> list[float]:
        return [*surface_features(event, seen), words(user, event, seen)]

    return _boost(others[half:], features)


def train_words(
    users: Sequence[User], salt: Callable[[User], str], *, every: float = KEPT, whole: bool = False
) -> Estimate:
    """Logistic regression on the words of the window. `salt` tells under which a user's words are hashed;
    `whole` takes all days, for users that are not played."""
    examples = [
        (window_features(item.event, item.seen, salt(user)), item.wanted)
        for user in users
        for item in labelled_past(user, every=every, whole=whole)
    ]
    model = Logistic()
    model.fit(examples)

    def estimate(user: User, event: Seen, seen: Sequence[Seen]) -> float:
        return model.chance(window_features(event, seen, salt(user)))

    return estimate


def surface_features_of(user: User, event: Seen, seen: Sequence[Seen]) -> list[float]:
    return surface_features(event, seen)


def _boost(others: Sequence[User], features: Callable[[User, Seen, Sequence[Seen]], list[float]]) -> Estimate:
    rows: list[list[float]] = []
    labels: list[bool] = []
    for user in others:
        for item in labelled_past(user, every=KEPT, whole=True):
            rows.append(features(user, item.event, item.seen))
            labels.append(item.wanted)
    model = Boosting()
    model.fit(rows, labels)

    def estimate(user: User, event: Seen, seen: Sequence[Seen]) -> float:
        return model.chance(features(user, event, seen))

    return estimate


def tune(estimate: Estimate, others: Sequence[User]) -> Policy:
    """The policy that gains most on users that are not played."""
    return best_policy([rehearsal for user in others for rehearsal in rehearse(user, estimate)])
