"""The players without a model, by name; each is a row of every table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from atr_client.timing.choosers.chooser import Chooser, User
from atr_client.timing.choosers.learning import best_policy, rehearse
from atr_client.timing.choosers.oracle import Oracle
from atr_client.timing.choosers.reader import Reader
from atr_client.timing.choosers.simple import Always, Never, RateMatched
from atr_client.timing.choosers.trained import (
    Trained,
    guessed_content,
    train_ngram,
    train_surface,
    train_words,
    tune,
)

Make = Callable[[User, Sequence[User]], Chooser]
"""From the user to be played and the others of the set, which a trained chooser learns from."""

_TAUGHT_BY = 6
_WORDS = "words"


def _surface(user: User, others: Sequence[User]) -> Chooser:
    estimate = train_surface(others[:_TAUGHT_BY])
    return Trained(estimate, tune(estimate, others[-_TAUGHT_BY:]), guessed_content)


def _ngram(user: User, others: Sequence[User]) -> Chooser:
    estimate = train_ngram(others[:_TAUGHT_BY], lambda _: _WORDS)
    return Trained(estimate, tune(estimate, others[-_TAUGHT_BY:]), guessed_content)


def _ngram_own(user: User, others: Sequence[User]) -> Chooser:
    """The policy is tuned on two others, each with a model of its own past."""
    rehearsals = [
        one
        for other in others[:2]
        for one in rehearse(other, train_words([other], lambda _: _WORDS, every=0.25))
    ]
    estimate = train_words([user], lambda _: _WORDS, every=0.25)
    return Trained(estimate, best_policy(rehearsals), guessed_content)


BASELINES: dict[str, Make] = {
    "offline/never": lambda user, others: Never(),
    "offline/always": lambda user, others: Always(),
    "offline/always-300s": lambda user, others: Always(300),
    "offline/rate-matched": lambda user, others: RateMatched(),
    "offline/surface": _surface,
    "offline/ngram": _ngram,
    "offline/ngram-own": _ngram_own,
    "offline/reader-4": lambda user, others: Reader(4),
    "offline/reader-16": lambda user, others: Reader(16),
    "offline/oracle": lambda user, others: Oracle(),
}

PRIVILEGED = ("offline/reader-4", "offline/reader-16", "offline/oracle")
"""Those that are shown gold of the days they play: readers the labels of scenes, the oracle the needs."""


def make_baseline(name: str, user: User, users: Sequence[User]) -> Chooser:
    """A fresh player for one user. Raises KeyError for a name that is none of BASELINES."""
    others = [other for other in users if other.user_id != user.user_id]
    return BASELINES[name](user, others)
