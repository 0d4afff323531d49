"""What every chooser reaches on one drawing of the habits: the figures that the gates judge.

Trained choosers are played on users that they were not trained on, with the right content granted, so that
the sense of the moment alone is measured and no weakness of their content hides a leak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from atr_client.timing.choosers.chooser import Chooser, User, seen_event
from atr_client.timing.choosers.granted import granted_content
from atr_client.timing.choosers.learning import Estimate, best_policy, rehearse
from atr_client.timing.choosers.memoryless import Rates, SceneRates, by_kind, by_values, past_scenes
from atr_client.timing.choosers.oracle import Oracle
from atr_client.timing.choosers.reader import Reader
from atr_client.timing.choosers.scene_words import SceneWords, ValueReader, Words, scene_words
from atr_client.timing.choosers.simple import Always, Never, RateMatched
from atr_client.timing.choosers.stumps import Boosting
from atr_client.timing.choosers.surface import surface_features
from atr_client.timing.choosers.trained import Trained, train_ngram, train_surface, train_words, tune
from atr_client.timing.direct import play_directly
from atr_data.timing.decisions import Assist
from atr_data.timing.intents import INTENTS, Intent
from atr_evaluator.timing import (
    Answer,
    Snapshot,
    TimingRules,
    UserPlay,
    score_sittings,
    score_snapshots,
    snapshots,
)
from atr_evaluator.timing.utility import guess_bound, utility

FOLDS, TAUGHT_BY, TUNED_ON = 2, 6, 14
_PUBLIC, _PRIVATE = "public", "private"


@dataclass(slots=True)
class Figures:
    """Utilities by chooser, the surface's Matthews coefficient on snapshots, each user's burstiness."""

    utilities: dict[str, float] = field(default_factory=dict[str, float])
    snapshot_mcc: float = 0.0
    guess_bound: float = 0.0
    burstiness: list[float] = field(default_factory=list[float])


def measure(users: Sequence[User], rules: TimingRules | None = None) -> Figures:
    """All figures of one set. At least as many users as there are folds."""
    rules = rules or TimingRules()
    figures = Figures(
        snapshot_mcc=_snapshot_mcc(users),
        guess_bound=guess_bound([user.gold for user in users], rules.false_alarm_cost),
        burstiness=[user.stream.header.burstiness.self_help or -1.0 for user in users],
    )
    named: dict[str, Callable[[], Chooser]] = {
        "never": Never,
        "always": Always,
        "always-300s": lambda: Always(300),
        "rate-matched": RateMatched,
        "reader-16": lambda: Reader(16),
        "reader-4": lambda: Reader(4),
        "reader-16, change ignored": lambda: Reader(16, heed_change=False),
        "oracle": Oracle,
    }
    plays = {name: [play_directly(make(), user) for user in users] for name, make in named.items()}
    plays["gold timing, no intent"] = [_with_intent(play, None) for play in plays["oracle"]]
    for name, chooser_plays in (plays | _trained(users) | _with_labels(users)).items():
        figures.utilities[name] = _utility(chooser_plays, rules)
    figures.utilities["gold timing, best constant intent"] = max(
        _utility([_with_intent(play, intent) for play in plays["oracle"]], rules) for intent in INTENTS
    )
    return figures


def _utility(plays: Sequence[UserPlay], rules: TimingRules) -> float:
    return utility([sitting.gain for sitting in score_sittings(plays, rules)], rules.false_alarm_cost)


def _with_intent(play: UserPlay, intent: Intent | None) -> UserPlay:
    """The same offers, all of one intent."""

    def changed(assist: Assist | None) -> Assist | None:
        return None if assist is None else assist.model_copy(update={"intent": intent})

    logs = tuple(
        log.model_copy(
            update={
                "decisions": tuple(d.model_copy(update={"assist": changed(d.assist)}) for d in log.decisions)
            }
        )
        for log in play.logs
    )
    return UserPlay(play.stream, play.gold, logs)


def _folds(users: Sequence[User]) -> list[tuple[list[User], list[User]]]:
    """Users to play and the others, in turn."""
    return [
        (
            [user for place, user in enumerate(users) if place % FOLDS == fold],
            [user for place, user in enumerate(users) if place % FOLDS != fold],
        )
        for fold in range(FOLDS)
    ]


def _trained(users: Sequence[User]) -> dict[str, list[UserPlay]]:
    """Surface and words, learned from others; and words learned from each user's own past."""
    plays: dict[str, list[UserPlay]] = {
        name: [] for name in ("surface", "ngram, public words", "ngram", "ngram-own")
    }
    own = {user.user_id: train_words([user], lambda _: _PRIVATE, every=0.15) for user in users}

    def by_own(user: User, event: Any, seen: Any) -> float:
        return own[user.user_id](user, event, seen)

    own_rehearsals = {user.user_id: rehearse(user, by_own) for user in users}
    for played, others in _folds(users):
        taught, tuned_on = others[:TAUGHT_BY], others[TAUGHT_BY : TAUGHT_BY + TUNED_ON] or others
        known = {user.user_id for user in taught[: len(taught) // 2]}
        estimates: dict[str, Estimate] = {
            "surface": train_surface(taught),
            "ngram, public words": train_ngram(taught, lambda _: _PUBLIC),
            "ngram": train_ngram(
                taught, lambda user, known=known: _PUBLIC if user.user_id in known else _PRIVATE
            ),
        }
        policies = {name: tune(estimate, tuned_on) for name, estimate in estimates.items()}
        estimates["ngram-own"] = by_own
        policies["ngram-own"] = best_policy([one for user in others for one in own_rehearsals[user.user_id]])
        for name, estimate in estimates.items():
            chooser = Trained(estimate, policies[name], granted_content)
            plays[name].extend(play_directly(chooser, user) for user in played)
    return plays


def _with_labels(users: Sequence[User]) -> dict[str, list[UserPlay]]:
    """Choosers that are told where scenes lie: without memory, by the user's own rates, and by words."""
    names = (
        "at every scene",
        "memoryless, by values",
        "own rate per kind",
        "scene words, own past",
        "scene words, public",
    )
    plays: dict[str, list[UserPlay]] = {name: [] for name in names}
    words: dict[str, Words] = {}
    for user in users:
        words |= scene_words(user, _PUBLIC)
    for played, others in _folds(users):
        reader, illiterate = ValueReader(), ValueReader()
        for user in others:
            reader.learn(user, words)
        elsewhere = past_scenes(others)
        for user in played:
            own = past_scenes([user])
            choosers: dict[str, Chooser] = {
                names[0]: SceneRates(Rates(elsewhere, by_kind), 0.0, granted_content),
                names[1]: SceneRates(Rates(elsewhere, by_values), 1 / 3, granted_content),
                names[2]: SceneRates(Rates(own, by_kind, 4.0), 1 / 3, granted_content),
                names[3]: SceneWords(words, illiterate, granted_content, threshold=0.5, own_share=1.0),
                names[4]: SceneWords(words, reader, granted_content, own_share=0.0),
            }
            for name, chooser in choosers.items():
                plays[name].append(play_directly(chooser, user))
    return plays


def _snapshot_mcc(users: Sequence[User]) -> float:
    """How well the surface tells snapshots apart, on users left out."""
    rows = {user.user_id: _snapshot_rows(user) for user in users}
    items: list[Snapshot] = []
    answers: dict[str, Answer] = {}
    for played, others in _folds(users):
        learned = [row for user in others for row in rows[user.user_id]]
        model = Boosting()
        model.fit([features for features, _ in learned], [item.wanted for _, item in learned])
        for features, item in (row for user in played for row in rows[user.user_id]):
            chance = model.chance(features)
            items.append(item)
            answers[item.event_id] = Answer(chance >= 0.5, max(chance, 1 - chance))
    return score_snapshots(items, answers)["MCC"]


def _snapshot_rows(user: User) -> list[tuple[list[float], Snapshot]]:
    items = {item.event_id: item for item in snapshots(user.stream, user.gold)}
    events = [seen_event(event) for event in user.stream.events]
    return [
        (surface_features(event, events[max(0, place - 12) : place]), items[event.event_id])
        for place, event in enumerate(events)
        if event.event_id in items
    ]
