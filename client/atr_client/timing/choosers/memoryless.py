"""A player who reads scenes without fault, knows what others want help with, and nothing of this user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from atr_client.timing.choosers.chooser import Seen, User
from atr_client.timing.choosers.trained import Offer
from atr_data.timing.decisions import Assist
from atr_data.timing.events import Sitting
from atr_data.timing.gold import Scene

Key = tuple[str, ...]
_WEIGHT = 20.0


def by_kind(scene: Scene) -> Key:
    return (scene.kind,)


def by_values(scene: Scene) -> Key:
    return (scene.kind, *(value for _, value in sorted(scene.attributes.items())))


class Rates:
    """How often scenes of a key led to a need, drawn towards the rate of all."""

    def __init__(self, scenes: Sequence[Scene], key: Callable[[Scene], Key], weight: float = _WEIGHT) -> None:
        self._key, self._weight = key, weight
        self._all, self._needs = Counter[Key](), Counter[Key]()
        for scene in scenes:
            self._all[key(scene)] += 1
            self._needs[key(scene)] += scene.need_id is not None
        self._mean = self._needs.total() / self._all.total() if scenes else 0.0

    def rate(self, scene: Scene) -> float:
        key = self._key(scene)
        return (self._needs[key] + self._weight * self._mean) / (self._all[key] + self._weight)


class SceneRates:
    """Offers help at a scene's last event when its rate passes `threshold`."""

    def __init__(self, rates: Rates, threshold: float, content: Callable[[User], Offer]) -> None:
        self._rates, self._threshold, self._content = rates, threshold, content
        self._cues: dict[str, Scene] = {}
        self._offer: Offer | None = None

    def begin(self, user: User, sitting: Sitting) -> None:
        self._cues = {scene.event_ids[-1]: scene for scene in user.gold.scenes}
        self._offer = self._content(user)

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        scene = self._cues.get(event.event_id)
        if scene is None or self._offer is None or self._rates.rate(scene) < self._threshold:
            return None
        return self._offer(event, seen)


def past_scenes(users: Sequence[User]) -> list[Scene]:
    """Of the days before evaluation."""
    return [
        scene
        for user in users
        for scene in user.gold.scenes
        if scene.t_onset < user.stream.header.first_evaluation_day
    ]
