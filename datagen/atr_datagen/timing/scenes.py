"""What happens in a block: its lines with the scenes among them, in which each states two values of itself.

Everything here is made without knowing what the user wants help with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from atr_datagen.timing.chronicle import Kind, Line, Plot
from atr_datagen.timing.clock import Block
from atr_datagen.timing.draws import keyed, lognormal
from atr_datagen.timing.lexicon import Lexicon
from atr_datagen.timing.settings import Settings
from atr_datagen.timing.walk import Walk


@dataclass(frozen=True, slots=True)
class Staged:
    """A scene as one user has it: the events `places` of its block, the values that were drawn for it, and
    when help would be sought."""

    kind: Kind
    values: dict[str, str]
    plot: Plot
    places: range
    onset: float


def stage_block(
    random: Random, block: Block, walk: Walk, lexicon: Lexicon, settings: Settings
) -> tuple[list[Line], list[Staged]]:
    """The lines of a block as the user has them, and its scenes. Values are uniform and independent."""
    day, number = walk.day(block.day), block.day
    last = block.first + len(block.steps)
    lines = list(day.lines[block.first : last])
    plots = [plot for plot in day.plots if block.first <= plot.first < last]
    found: list[Staged] = []
    for plot, following in zip(plots, [*plots[1:], None], strict=False):
        kind = lexicon.kinds[plot.kind]
        values = {name: random.choice(sorted(lexicon.values[name])) for name in kind.attributes}
        told = {pair: remark(plot, *pair, settings, number) for pair in values.items()}
        places = range(plot.first - block.first, plot.last - block.first + 1)
        for place in places:
            lines[place] = _with_remarks(lines[place], told)
        before = block.free_until - 8
        if following:
            before = min(before, block.steps[following.first - block.first] - 2)
        onset = _onset(random, block.steps[places[-1]], before, block.steps)
        found.append(Staged(kind, values, walk.plot(plot, number), places, onset))
    return [walk.line(line, number) for line in lines], found


def remark(plot: Plot, attribute: str, value: str, settings: Settings, day: int) -> str:
    """What states a value in a scene on a working day. All users of a set have the same wordings early and
    the same ones late: what a history teaches of a wording is of no use for anybody's evaluation days."""
    one, other = plot.remarks[attribute, value]
    swapped = keyed(str(settings.seed), attribute, value, "late") < 0.5
    return other if swapped == (day <= settings.history_days) else one


def _with_remarks(line: Line, told: Mapping[tuple[str, str], str]) -> Line:
    summary, text = line.summary, line.text
    for (attribute, _), said in told.items():
        mark = f"{{{attribute}}}"
        summary, text = summary.replace(mark, said), text.replace(mark, said)
    return replace(line, summary=summary, text=text)


def _onset(random: Random, cue: float, before: float, steps: Sequence[float]) -> float:
    """When help would be sought after a scene's last event: at least a second after the step before it."""
    onset = min(cue + lognormal(random, 75, 0.7, 12, 600), before)
    near = [step for step in steps if abs(step - onset) < 1.2]
    return near[-1] + 1.5 if near else onset
