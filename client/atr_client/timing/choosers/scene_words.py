"""The hardest word chooser known here: gold tells it where scenes lie and of which kind they are.

It reads values as far as other users' words teach them (`reading`), learns words from the user's own past up
to the moment a sitting begins, evaluation days included (`own words`), and weighs both as a reader would.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import exp, log

from atr_client.timing.choosers.chooser import Seen, User, seen_event
from atr_client.timing.choosers.logistic import Logistic
from atr_client.timing.choosers.reader import CHANGE_DAY, CHANGE_SHARE, IF_FACE, OTHERWISE
from atr_client.timing.choosers.trained import Offer
from atr_client.timing.choosers.words import hashed, words_of
from atr_data.timing.decisions import Assist
from atr_data.timing.events import Sitting
from atr_data.timing.gold import Scene

Words = frozenset[int]
Belief = Mapping[tuple[str, str], float]
"""How likely each value of each attribute of a scene's kind is."""

_SMOOTH, _RARE = 0.3, 3


def scene_words(user: User, salt: str) -> dict[str, Words]:
    """The hashed words of each scene's events, by scene id."""
    owner = {event_id: scene.scene_id for scene in user.gold.scenes for event_id in scene.event_ids}
    found: dict[str, set[int]] = defaultdict(set)
    for event in user.stream.events:
        scene_id = owner.get(event.event_id)
        if scene_id is None:
            continue
        words = words_of(seen_event(event))
        found[scene_id].update(hashed(word, salt) for word in words)
    return {scene_id: frozenset(words) for scene_id, words in found.items()}


class ValueReader:
    """Naive Bayes from words to attribute values, taught by other users' gold."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[int, dict[str, float]]] = defaultdict(dict)
        self._totals: dict[str, dict[str, float]] = defaultdict(dict)
        self._attributes: dict[str, tuple[str, ...]] = {}
        self._read: dict[str, Belief] = {}

    def learn(self, user: User, words: Mapping[str, Words]) -> None:
        for scene in user.gold.scenes:
            self._attributes[scene.kind] = tuple(sorted(scene.attributes))
            for attribute, value in scene.attributes.items():
                totals, counts = self._totals[attribute], self._counts[attribute]
                totals[value] = totals.get(value, 0.0) + 1
                for word in words[scene.scene_id]:
                    by_value = counts.setdefault(word, {})
                    by_value[value] = by_value.get(value, 0.0) + 1

    def read(self, scene: Scene, words: Words) -> Belief:
        """Words that nobody else used leave every value equally likely. What was read once is remembered."""
        if scene.scene_id not in self._read:
            self._read[scene.scene_id] = self._first_read(scene, words)
        return self._read[scene.scene_id]

    def _first_read(self, scene: Scene, words: Words) -> Belief:
        belief: dict[tuple[str, str], float] = {}
        for attribute in self._attributes.get(scene.kind, ()):
            totals, counts = self._totals[attribute], self._counts[attribute]
            values = sorted(totals)
            logs = [0.0] * len(values)
            for word in words:
                by_value = counts.get(word)
                if by_value is None or sum(by_value.values()) < _RARE:
                    continue
                for place, value in enumerate(values):
                    logs[place] += log((by_value.get(value, 0.0) + _SMOOTH) / (totals[value] + 2 * _SMOOTH))
            belief |= {(attribute, v): p for v, p in zip(values, _normal(logs), strict=True)}
        return belief


class SceneWords:
    """Offers help at a scene's last event when the mixed chance passes `threshold`.

    `own_share` is how far own words count beside reading, in 0..1. One player serves one user.
    """

    def __init__(
        self,
        words: Mapping[str, Words],
        reader: ValueReader,
        content: Callable[[User], Offer],
        *,
        threshold: float = 1 / 3,
        own_share: float = 0.5,
    ) -> None:
        self._words, self._reader, self._content = words, reader, content
        self._threshold, self._own_share = threshold, own_share
        self._cues: dict[str, Scene] = {}
        self._offer: Offer | None = None
        self._beliefs: dict[str, list[tuple[Scene, Belief]]] = {}
        self._own = Logistic(rate=0.2, epochs=4)
        self._learned: set[str] = set()

    def begin(self, user: User, sitting: Sitting) -> None:
        events = user.stream.events_of(sitting)
        start = events[0].t_release
        past = [scene for scene in user.gold.scenes if scene.t_onset < start]
        self._cues = {scene.event_ids[-1]: scene for scene in user.gold.scenes if scene.t_onset >= start}
        self._offer = self._content(user)
        self._beliefs = defaultdict(list)
        for scene in past:
            if self._own_share < 1:
                belief = self._reader.read(scene, self._words[scene.scene_id])
                self._beliefs[scene.kind].append((scene, belief))
        if self._own_share:
            new = [scene for scene in past if scene.scene_id not in self._learned]
            self._own.fit([(self._features(scene), scene.need_id is not None) for scene in new])
            self._learned.update(scene.scene_id for scene in new)

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        scene = self._cues.get(event.event_id)
        if scene is None or self._offer is None or self.chance(scene) < self._threshold:
            return None
        return self._offer(event, seen)

    def chance(self, scene: Scene) -> float:
        """How likely the scene leads to a need."""
        read = self._read_chance(scene) if self._own_share < 1 else 0.5
        own = self._own.chance(self._features(scene)) if self._own_share else 0.5
        logit = (1 - self._own_share) * _logit(read) + self._own_share * _logit(own)
        return 1 / (1 + exp(-logit))

    def _features(self, scene: Scene) -> list[int]:
        words = self._words[scene.scene_id]
        kind = hashed(f"kind {scene.kind}", "kind")
        return [kind, *words, *((word * 31 + kind) % (1 << 20) + (1 << 20) for word in words)]

    def _read_chance(self, scene: Scene) -> float:
        now = self._reader.read(scene, self._words[scene.scene_id])
        faces = sorted(now)
        if not faces:
            return IF_FACE / 3 + OTHERWISE * 2 / 3
        past = self._beliefs.get(scene.kind, [])
        flat = [0.0] * len(faces)
        before = _normal(_weigh(faces, flat, [one for one in past if one[0].day < CHANGE_DAY]))
        prior = [log((1 - CHANGE_SHARE) * p + CHANGE_SHARE / len(faces)) for p in before]
        after = _normal(_weigh(faces, prior, [one for one in past if one[0].day >= CHANGE_DAY]))
        return sum(weight * _rate(now[face]) for weight, face in zip(after, faces, strict=True))


def _rate(holds: float) -> float:
    return OTHERWISE + (IF_FACE - OTHERWISE) * holds


def _weigh(
    faces: Sequence[tuple[str, str]], prior: Sequence[float], past: Sequence[tuple[Scene, Belief]]
) -> list[float]:
    logs = list(prior)
    for scene, belief in past:
        for place, face in enumerate(faces):
            rate = _rate(belief.get(face, 1 / 3))
            logs[place] += log(rate if scene.need_id else 1 - rate)
    return logs


def _normal(logs: Sequence[float]) -> list[float]:
    top = max(logs)
    weights = [exp(value - top) for value in logs]
    return [weight / sum(weights) for weight in weights]


def _logit(p: float) -> float:
    p = min(1 - 1e-6, max(1e-6, p))
    return log(p / (1 - p))
