"""Which scenes lead to a need under a salt, and the few needs that no scene announces."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from atr_data.timing.events import WorkEvent
from atr_data.timing.gold import Need, Scene
from atr_data.timing.intents import INTENTS
from atr_datagen.timing.base import Base, slots_for
from atr_datagen.timing.clock import moment
from atr_datagen.timing.draws import keyed, opaque, stream_of_chance
from atr_datagen.timing.habits import Faces
from atr_datagen.timing.lexicon import Lexicon
from atr_datagen.timing.settings import Settings

_EARLIEST, _LATEST, _ROOM = 4.0, 60.0, 12.0


def decide_needs(base: Base, settings: Settings, lexicon: Lexicon) -> tuple[list[Scene], list[Need]]:
    """Scenes with their needs filled in, and all needs in the order of their onsets."""
    faces = Faces(settings, lexicon, base.user_id)
    habits = {(habit.kind, habit.last_day): habit.habit_id for habit in faces.habits()}
    scenes: list[Scene] = []
    needs: list[Need] = []
    for scene in base.scenes:
        plot = base.plots[scene.scene_id]
        face = faces.face(plot.kind, scene.day)
        holds = plot.values.get(face.attribute) == face.value
        chance = settings.need_if_face if holds else settings.need_otherwise
        if keyed(settings.salt, scene.scene_id, "need") >= chance:
            scenes.append(scene)
            continue
        last_day = min(last for kind, last in habits if kind == plot.kind.name and last >= scene.day)
        intent = faces.intent(plot.kind)
        random = stream_of_chance("query", settings.salt, scene.scene_id)
        query = random.choice(lexicon.queries[intent]).format(obj=plot.thing, fact=plot.fact)
        need = Need(
            need_id=f"n-{opaque(settings.salt, scene.scene_id)}",
            user_id=base.user_id,
            t_cue=scene.t_cue,
            t_onset=scene.t_onset,
            intent=intent,
            target=scene.target,
            slots=slots_for(intent, plot),
            query=query,
            facts=scene.helps,
            foils=scene.foils,
            scene_id=scene.scene_id,
            habit=habits[plot.kind.name, last_day],
        )
        needs.append(need)
        scenes.append(scene.model_copy(update={"need_id": need.need_id}))
    needs.extend(_sceneless(base, settings, lexicon, len(needs)))
    return scenes, sorted(needs, key=lambda need: (need.t_onset, need.need_id))


def _sceneless(base: Base, settings: Settings, lexicon: Lexicon, announced: int) -> list[Need]:
    """A few needs after ordinary events that lie in no scene's window."""
    wanted = announced * settings.sceneless_share / (1 - settings.sceneless_share)
    candidates = _quiet_places(base)
    found: list[Need] = []
    for event, room in candidates:
        if keyed(settings.salt, event.event_id, "sceneless") * len(candidates) >= wanted:
            continue
        random = stream_of_chance("sceneless", settings.salt, event.event_id)
        onset = event.t_release.timestamp() + random.uniform(_EARLIEST, min(_LATEST, room - 4))
        found.append(_unannounced(base, lexicon, random, event, onset - base.events[0].t_release.timestamp()))
    return found


def _unannounced(base: Base, lexicon: Lexicon, random: Random, event: WorkEvent, offset: float) -> Need:
    intent = random.choice(INTENTS[:-1])
    begin = base.events[0].t_release
    thing = f"{random.choice(base.topics)} {random.choice(random.choice(lexicon.kinds).nouns)}"
    fact = f"part {random.randint(2, 30)}"
    return Need(
        need_id=f"n-{opaque('sceneless', event.event_id)}",
        user_id=base.user_id,
        t_onset=begin + (moment(offset) - moment(0)),
        intent=intent,
        query=random.choice(lexicon.queries[intent]).format(obj=thing, fact=fact),
    )


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
