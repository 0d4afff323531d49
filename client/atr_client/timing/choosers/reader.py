"""The symbolic reader: takes kind and attributes of a scene from gold, as if it had read them without fault,
and learns from the user's past what help is wanted with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from math import exp, log

from atr_client.timing.choosers.chooser import Seen, User
from atr_data.timing.decisions import Assist
from atr_data.timing.events import Sitting
from atr_data.timing.gold import Scene
from atr_data.timing.intents import Intent

IF_FACE, OTHERWISE, CHANGE_DAY, CHANGE_SHARE = 0.85, 0.05, 9, 0.4
"""What the specification says of habits; a reader may know it."""

_FALSE_ALARM_COST = 0.5
_INTENTS_PER_KIND = 3
Pair = tuple[str, str]


class Reader:
    """Learns from the last `days` of history. Without `heed_change` it trusts old evidence like new."""

    def __init__(self, days: int = 16, *, heed_change: bool = True) -> None:
        self._days = days
        self._heeds = heed_change
        self._past: dict[str, list[Scene]] = {}
        self._intents: dict[str, Counter[Intent]] = {}
        self._cues: dict[str, Scene] = {}

    def begin(self, user: User, sitting: Sitting) -> None:
        start = user.stream.header.first_evaluation_day
        past = [scene for scene in user.gold.scenes if scene.t_onset < start]
        last_day = max((scene.day for scene in past), default=0)
        past = [scene for scene in past if scene.day > last_day - self._days]
        intents: dict[str, Intent | None] = {
            need.need_id: need.intent for need in user.gold.needs if need.t_onset < start
        }
        self._past, self._intents = {}, {}
        for scene in past:
            self._past.setdefault(scene.kind, []).append(scene)
            intent = intents.get(scene.need_id or "")
            if intent is not None:
                self._intents.setdefault(scene.kind, Counter[Intent]())[intent] += 1
        later = start - timedelta(seconds=1)
        self._cues = {scene.event_ids[-1]: scene for scene in user.gold.scenes if scene.t_onset > later}
        if sitting.decide_from:
            self._cues = _open_scene(user, sitting.decide_from)

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        scene = self._cues.get(event.event_id)
        if scene is None:
            return None
        known = self._intents.get(scene.kind)
        sure = 1.0 if known else 1 / _INTENTS_PER_KIND
        right = sure * self._chance(scene)
        if not known or right - _FALSE_ALARM_COST * (1 - right) <= 0:
            return None
        intent = min(known, key=lambda name: (-known[name], name))
        return help_with(scene, intent)

    def _chance(self, scene: Scene) -> float:
        """How likely the scene leads to a need, over all faces that the kind may have."""
        past = self._past.get(scene.kind, [])
        pairs = {pair for one in (*past, scene) for pair in one.attributes.items()}
        faces = sorted(pairs) + [("", "")] * (6 - len(pairs))
        if self._heeds:
            before = _posterior(faces, [1.0] * len(faces), [s for s in past if s.day < CHANGE_DAY])
            prior = [(1 - CHANGE_SHARE) * p + CHANGE_SHARE / len(faces) for p in before]
            after = _posterior(faces, prior, [s for s in past if s.day >= CHANGE_DAY])
        else:
            after = _posterior(faces, [1.0] * len(faces), past)
        return sum(p * _rate(face, scene) for p, face in zip(after, faces, strict=True))


def _open_scene(user: User, event_id: str) -> dict[str, Scene]:
    """The scene that was told last before a single moment, as its cue."""
    at = next(event.t_release for event in user.stream.events if event.event_id == event_id)
    told = [scene for scene in user.gold.scenes if scene.t_cue <= at]
    return {event_id: max(told, key=lambda scene: scene.t_cue)} if told else {}


def help_with(scene: Scene, intent: Intent) -> Assist:
    """An offer that names what the scene is about."""
    query = " ".join(aliases[0] for aliases in scene.helps)
    return Assist(intent=intent, target=scene.target, slots=dict(scene.slots), query=query)


def _rate(face: Pair, scene: Scene) -> float:
    return IF_FACE if scene.attributes.get(face[0]) == face[1] else OTHERWISE


def _posterior(faces: Sequence[Pair], prior: Sequence[float], scenes: Sequence[Scene]) -> list[float]:
    logs = [log(p) for p in prior]
    for scene in scenes:
        for place, face in enumerate(faces):
            rate = _rate(face, scene)
            logs[place] += log(rate if scene.need_id else 1 - rate)
    top = max(logs)
    weights = [exp(value - top) for value in logs]
    return [weight / sum(weights) for weight in weights]
