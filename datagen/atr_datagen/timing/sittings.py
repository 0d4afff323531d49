"""The evaluation days cut into sittings that start at a block."""

from __future__ import annotations

from collections import defaultdict

from atr_data.timing.events import Sitting
from atr_datagen.timing.base import Base
from atr_datagen.timing.clock import moment
from atr_datagen.timing.draws import keyed
from atr_datagen.timing.settings import SITTINGS, Settings


def cut_sittings(base: Base, settings: Settings) -> tuple[Sitting, ...]:
    """One sitting a day, drawn among those that fill up; `lite` has fewer days than there are.

    Bounds are ordinary events, so they are the same under every salt. Needs count until the next block.
    """
    by_day: dict[int, list[list[int]]] = defaultdict(list)
    for number, day in enumerate(base.days):
        if day <= settings.history_days:
            continue
        first, last = base.blocks[number]
        groups = by_day[day]
        size = sum(base.blocks[n][1] - base.blocks[n][0] for n in groups[-1]) if groups else 0
        if groups and size + last - first <= settings.sitting_decisions:
            groups[-1].append(number)
        else:
            groups.append([number])
    wanted = SITTINGS[settings.split]
    days = sorted(by_day, key=lambda day: keyed(str(settings.seed), base.user_id, "day", day))[:wanted]
    return tuple(_sitting(base, settings, day, by_day[day]) for day in sorted(days))


def _sitting(base: Base, settings: Settings, day: int, groups: list[list[int]]) -> Sitting:
    full = groups[:-1] or groups
    blocks = full[int(keyed(str(settings.seed), base.user_id, "sitting", day) * len(full))]
    first, last = base.blocks[blocks[0]][0], base.blocks[blocks[-1]][1]
    return Sitting(
        sitting_id=f"{base.user_id}-d{day:02d}",
        first_event=base.events[first].event_id,
        last_event=base.events[last - 1].event_id,
        t_end=moment(base.free_until[blocks[-1]] - 1),
    )
