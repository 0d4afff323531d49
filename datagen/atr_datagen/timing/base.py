"""A user's stream before any salt: all ordinary events and all scenes, none of them decided."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from atr_data.timing.events import AppCategory, WorkEvent
from atr_data.timing.gold import Scene
from atr_data.timing.intents import Intent
from atr_datagen.timing import names
from atr_datagen.timing.clock import Block, moment, working_days
from atr_datagen.timing.draws import opaque, stream_of_chance
from atr_datagen.timing.lexicon import Lexicon
from atr_datagen.timing.scenes import Plot, Wordings, draw_plot, find_slots, stage_scene
from atr_datagen.timing.settings import Settings
from atr_datagen.timing.windows import ROLES, Desk, furnish
from atr_datagen.timing.work_world import View, World, build_world


@dataclass(frozen=True, slots=True)
class Base:
    """`blocks` are the index ranges of each block's events. `scenes` carry no need yet; `plots` goes by scene
    id. `free_until` is when the break after a block ends."""

    user_id: str
    desk: Desk
    events: tuple[WorkEvent, ...]
    blocks: tuple[tuple[int, int], ...]
    days: tuple[int, ...]
    free_until: tuple[float, ...]
    scenes: tuple[Scene, ...]
    plots: dict[str, Plot]
    topics: tuple[str, ...]


def user_name(number: int) -> str:
    """Of a generated set; users are counted from 0."""
    return f"u{number:03d}"


def compile_base(settings: Settings, lexicon: Lexicon, number: int) -> Base:
    """The same for every salt."""
    user_id = user_name(number)
    desk, world = _settle(settings, lexicon, user_id)
    clock = stream_of_chance("clock", settings.seed, user_id)
    plan = stream_of_chance("scenes", settings.seed, user_id)
    stage = stream_of_chance("stage", settings.seed, user_id)
    fronts = stream_of_chance("fronts", settings.seed, user_id)
    wordings = Wordings(lexicon, settings.seed, settings.history_days)
    blocks = working_days(clock, settings)
    events: list[WorkEvent] = []
    scenes: list[Scene] = []
    plots: dict[str, Plot] = {}
    ranges: list[tuple[int, int]] = []
    for block in blocks:
        world.turn_to_something()
        first = len(events)
        views: dict[int, View] = {}
        slots = find_slots(plan, block, settings)
        categories = desk.categories(fronts, len(block.steps))
        if block.meeting:
            categories[0] = "meeting"
        for slot in slots:
            plot = draw_plot(plan, lexicon, world.topics)
            chosen = [plan.choice(wordings.of(name, value, block.day)) for name, value in plot.values.items()]
            fronted: list[AppCategory] = [categories[position] for position in slot.positions]
            staged = stage_scene(stage, plot, world, chosen, fronted)
            views |= dict(zip(slot.positions, staged, strict=True))
            scene = _scene(user_id, block, slot.positions, slot.onset, plot, (settings.seed, first))
            scenes.append(scene)
            plots[scene.scene_id] = plot
        onsets = [slot.onset for slot in slots]
        for index, step in enumerate(block.steps):
            view = views.get(index) or world.ordinary(categories[index])
            nexts = [*block.steps[index + 1 : index + 2], *(at for at in onsets if at > step)]
            room = min([*nexts, step + 240]) - step
            length = max(0.0, room * clock.uniform(0.35, 0.6))
            events.append(_event(settings.seed, user_id, first + index, step, length, view))
        ranges.append((first, len(events)))
    return Base(
        user_id,
        desk,
        tuple(events),
        tuple(ranges),
        tuple(block.day for block in blocks),
        tuple(block.free_until for block in blocks),
        tuple(scenes),
        plots,
        tuple(world.topics),
    )


def _settle(settings: Settings, lexicon: Lexicon, user_id: str) -> tuple[Desk, World]:
    random = stream_of_chance("desk", settings.seed, user_id)
    role = random.choice(ROLES)
    desk = furnish(random, role, names.word(random).lower())
    return desk, build_world(stream_of_chance("world", settings.seed, user_id), desk, lexicon)


def _event(seed: int, user_id: str, index: int, start: float, length: float, view: View) -> WorkEvent:
    begins = moment(start)
    return WorkEvent(
        event_id=event_id(seed, user_id, index),
        user_id=user_id,
        t_start=begins,
        t_end=begins + timedelta(seconds=int(length)),
        t_release=begins,
        app=view.app,
        window_title=view.title,
        app_category=view.category,
        summary=view.summary,
        screen_text=view.text,
        target=view.target,
    )


def event_id(seed: int, user_id: str, index: int) -> str:
    """Sorted as the events are where two share a second, and the same under every salt."""
    return f"{user_id}-{index:05d}-{opaque(seed, user_id, index)[:6]}"


def _scene(
    user_id: str,
    block: Block,
    positions: tuple[int, ...],
    onset: float,
    plot: Plot,
    place: tuple[int, int],
) -> Scene:
    seed, first = place
    ids = tuple(event_id(seed, user_id, first + position) for position in positions)
    return Scene(
        scene_id=f"s-{opaque('scene', ids[0])}",
        user_id=user_id,
        kind=plot.kind.name,
        attributes=plot.values,
        event_ids=ids,
        t_first=moment(block.steps[positions[0]]),
        t_cue=moment(block.steps[positions[-1]]),
        t_onset=moment(onset),
        day=block.day,
        target=plot.target,
        slots={"about": plot.thing, "detail": plot.fact},
        helps=((plot.fact,), (plot.thing, plot.thing.split()[0])),
        foils=((plot.foil,), (plot.foil_thing, plot.foil_thing.split()[0])),
    )


def slots_for(intent: Intent, plot: Plot) -> dict[str, str]:
    """The slots that a good offer of that intent carries."""
    match intent:
        case "comparison":
            return {"about": plot.thing, "against": plot.foil_thing}
        case "translation":
            return {"about": plot.thing, "language": "English"}
        case "format_conversion":
            return {"about": plot.thing, "format": "open"}
        case _:
            return {"about": plot.thing, "detail": plot.fact}
