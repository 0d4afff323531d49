from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from atr_data.timing.events import WorkEvent
from atr_data.timing.gold import Scene
from atr_data.timing.intents import Intent
from atr_datagen.timing.chronicle import Kind, Line
from atr_datagen.timing.clock import Block, moment, working_days
from atr_datagen.timing.draws import opaque, stream_of_chance
from atr_datagen.timing.lexicon import Lexicon
from atr_datagen.timing.scenes import Staged, stage_block
from atr_datagen.timing.settings import Settings
from atr_datagen.timing.walk import Walk, set_out
from atr_datagen.timing.windows import Desk, furnish, in_focus

_INJECTION = 0.004


@dataclass(frozen=True, slots=True)
class Base:
    """`blocks` are the index ranges of each block's events. `scenes` carry no need yet; `staged` goes by
    scene id. `free_until` is when the break after a block ends."""

    user_id: str
    walk: Walk
    kinds: tuple[Kind, ...]
    desk: Desk
    events: tuple[WorkEvent, ...]
    blocks: tuple[tuple[int, int], ...]
    days: tuple[int, ...]
    free_until: tuple[float, ...]
    scenes: tuple[Scene, ...]
    staged: dict[str, Staged]

    def day_at(self, at: datetime) -> int:
        """The working day of a moment."""
        begun = bisect_right(self.blocks, at, key=lambda block: self.events[block[0]].t_release)
        return self.days[max(0, begun - 1)]


def user_name(number: int) -> str:
    """Of a generated set; users are counted from 0."""
    return f"u{number:03d}"


def compile_base(settings: Settings, lexicon: Lexicon, number: int) -> Base:
    """The same for every salt."""
    user_id = user_name(number)
    walk = set_out(lexicon.chronicles, settings.seed, number, user_id, settings.days)
    desk = furnish(stream_of_chance("desk", settings.seed, user_id), walk.chronicle.role, walk.login)
    clock = stream_of_chance("clock", settings.seed, user_id)
    plan = stream_of_chance("scenes", settings.seed, user_id)
    blocks = working_days(clock, settings, [walk.day(day) for day in range(1, settings.days + 1)])
    planted = Planted(stream_of_chance("injections", settings.seed, user_id), lexicon.injections)
    events: list[WorkEvent] = []
    scenes: list[Scene] = []
    staged: dict[str, Staged] = {}
    ranges: list[tuple[int, int]] = []
    for block in blocks:
        first = len(events)
        lines, told = stage_block(plan, block, walk, lexicon, settings)
        ids = [event_id(settings.seed, user_id, first + place) for place in range(len(lines))]
        for one in told:
            scenes.append(_scene(user_id, block, ids, one))
            staged[scenes[-1].scene_id] = one
        busy = {place for one in told for place in one.places}
        onsets = [one.onset for one in told]
        for place, (step, line) in enumerate(zip(block.steps, lines, strict=True)):
            app, title = desk.window(line.category, line.title)
            if place not in busy:
                title = planted.instead_of(title, app)
            nexts = [*block.steps[place + 1 : place + 2], *(at for at in onsets if at > step)]
            room = min([*nexts, step + 240]) - step
            length = max(0.0, room * clock.uniform(0.35, 0.6))
            events.append(_event(user_id, ids[place], (step, length), line, (app, title)))
        ranges.append((first, len(events)))
    return Base(
        user_id,
        walk,
        tuple(lexicon.kinds[name] for name in walk.chronicle.kinds),
        desk,
        tuple(events),
        tuple(ranges),
        tuple(block.day for block in blocks),
        tuple(block.free_until for block in blocks),
        tuple(scenes),
        staged,
    )


@dataclass(frozen=True, slots=True)
class Planted:
    """Titles that tell the agent what to do, in a few ordinary windows."""

    random: Random
    titles: Sequence[str]

    def instead_of(self, title: str, app: str) -> str:
        if self.random.random() >= _INJECTION:
            return title
        return f"{self.random.choice(self.titles)} - {app}"


def _event(
    user_id: str, name: str, time: tuple[float, float], line: Line, window: tuple[str, str]
) -> WorkEvent:
    begins = moment(time[0])
    return WorkEvent(
        event_id=name,
        user_id=user_id,
        t_start=begins,
        t_end=begins + timedelta(seconds=int(time[1])),
        t_release=begins,
        app=window[0],
        window_title=window[1],
        app_category=line.category,
        summary=line.summary[:200] or None,
        screen_text=line.text[:500] or None,
        target=in_focus(line.category, line.title),
    )


def event_id(seed: int, user_id: str, index: int) -> str:
    """Sorted as the events are where two share a second, and the same under every salt."""
    return f"{user_id}-{index:05d}-{opaque(seed, user_id, index)[:6]}"


def _scene(user_id: str, block: Block, ids: Sequence[str], one: Staged) -> Scene:
    first, last, plot = one.places[0], one.places[-1], one.plot
    return Scene(
        scene_id=f"s-{opaque('scene', ids[first])}",
        user_id=user_id,
        kind=one.kind.name,
        attributes=one.values,
        event_ids=tuple(ids[first : last + 1]),
        t_first=moment(block.steps[first]),
        t_cue=moment(block.steps[last]),
        t_onset=moment(one.onset),
        day=block.day,
        target=plot.target,
        slots={"about": plot.thing, "detail": plot.detail},
        helps=((plot.detail,), (plot.thing, plot.thing.split()[0])),
        foils=((plot.foil_detail,), (plot.foil, plot.foil.split()[0])),
    )


def slots_for(intent: Intent, staged: Staged) -> dict[str, str]:
    """The slots that a good offer of that intent carries."""
    plot = staged.plot
    match intent:
        case "comparison":
            return {"about": plot.thing, "against": plot.foil}
        case "translation":
            return {"about": plot.thing, "language": "English"}
        case "format_conversion":
            return {"about": plot.thing, "format": "open"}
        case _:
            return {"about": plot.thing, "detail": plot.detail}
