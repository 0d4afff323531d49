"""Which scenes lead to a need under a salt, and the few needs that no scene announces."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from atr_data.timing.events import WorkEvent
from atr_data.timing.gold import Need, Scene
from atr_datagen.timing.base import Base, slots_for
from atr_datagen.timing.draws import in_turn, keyed, opaque, stream_of_chance
from atr_datagen.timing.habits import Faces
from atr_datagen.timing.lexicon import Lexicon
from atr_datagen.timing.settings import Settings

_EARLIEST, _LATEST, _ROOM = 4.0, 60.0, 12.0


def decide_needs(base: Base, settings: Settings, lexicon: Lexicon) -> tuple[list[Scene], list[Need]]:
    """Scenes with their needs filled in, and all needs in the order of their onsets."""
    faces = Faces(settings, lexicon, base.user_id)
    habits = {(habit.kind, habit.last_day): habit.habit_id for habit in faces.habits(base.kinds)}
    scenes: list[Scene] = []
    needs: list[Need] = []
    for scene in base.scenes:
        staged = base.staged[scene.scene_id]
        face = faces.face(staged.kind, scene.day)
        holds = staged.values.get(face.attribute) == face.value
        chance = settings.need_if_face if holds else settings.need_otherwise
        if keyed(settings.salt, scene.scene_id, "need") >= chance:
            scenes.append(scene)
            continue
        last_day = min(last for kind, last in habits if kind == scene.kind and last >= scene.day)
        intent = faces.intent(staged.kind)
        need = Need(
            need_id=f"n-{opaque(settings.salt, scene.scene_id)}",
            user_id=base.user_id,
            t_cue=scene.t_cue,
            t_onset=scene.t_onset,
            intent=intent,
            target=scene.target,
            slots=slots_for(intent, staged),
            query=staged.plot.asks[intent],
            facts=scene.helps,
            foils=scene.foils,
            scene_id=scene.scene_id,
            habit=habits[scene.kind, last_day],
        )
        needs.append(need)
        scenes.append(scene.model_copy(update={"need_id": need.need_id}))
    needs.extend(_sceneless(base, settings, len(needs)))
    return scenes, sorted(needs, key=lambda need: (need.t_onset, need.need_id))


def _sceneless(base: Base, settings: Settings, announced: int) -> list[Need]:
    """A few needs after ordinary events that lie in no scene's window."""
    wanted = announced * settings.sceneless_share / (1 - settings.sceneless_share)
    candidates = _quiet_places(base)
    chance = stream_of_chance("loose", settings.salt, base.user_id)
    questions = in_turn(chance, base.walk.chronicle.loose)
    found: list[Need] = []
    for event, room in candidates:
        if keyed(settings.salt, event.event_id, "sceneless") * len(candidates) >= wanted:
            continue
        random = stream_of_chance("sceneless", settings.salt, event.event_id)
        wait = timedelta(seconds=round(random.uniform(_EARLIEST, min(_LATEST, room - 4))))
        intent, query = next(questions)
        found.append(
            Need(
                need_id=f"n-{opaque('sceneless', event.event_id)}",
                user_id=base.user_id,
                t_onset=event.t_release + wait,
                intent=intent,
                query=base.walk.said(query, base.day_at(event.t_release)),
            )
        )
    return found


def _quiet_places(base: Base) -> Sequence[tuple[WorkEvent, float]]:
    """Events outside every scene's window with some seconds after them, and how many."""
    busy = [(scene.t_first, scene.t_onset) for scene in base.scenes]
    found: list[tuple[WorkEvent, float]] = []
    position = 0
    for event, following in zip(base.events, base.events[1:], strict=False):
        while position < len(busy) and busy[position][1] < event.t_release:
            position += 1
        following_at = following.t_release
        clear = position == len(busy) or busy[position][0] > event.t_release
        if clear and position < len(busy):
            following_at = min(following_at, busy[position][0])
        room = (following_at - event.t_release).total_seconds()
        if clear and _ROOM <= room <= 900:
            found.append((event, room))
    return found
