"""What happens in a block: its lines with the scenes among them, in which each states two values of itself.

Everything here is made without knowing what the user wants help with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from atr_datagen.timing.chronicle import MARK, Kind, Line, Plot
from atr_datagen.timing.clock import Block
from atr_datagen.timing.draws import lognormal
from atr_datagen.timing.halves import halves
from atr_datagen.timing.lexicon import Lexicon
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


class Wordings:
    """The wordings of a set, early and late. All its users share the halves: what anybody's history teaches
    of a wording is of no use for anybody's evaluation days."""

    def __init__(self, lexicon: Lexicon, seed: int, last_early_day: int) -> None:
        self._last_early_day = last_early_day
        self._halves = {
            (name, value): halves(lines, seed, name, value)
            for name, values in lexicon.wordings.items()
            for value, lines in values.items()
        }

    def of(self, attribute: str, value: str, day: int) -> tuple[str, ...]:
        early, late = self._halves[attribute, value]
        return early if day <= self._last_early_day else late


def stage_block(
    random: Random, block: Block, walk: Walk, lexicon: Lexicon, wordings: Wordings
) -> tuple[list[Line], list[Staged]]:
    """The lines of a block as the user has them, and its scenes. Values are uniform and independent; what is
    said twice is said in other words."""
    day, number = walk.day(block.day), block.day
    last = block.first + len(block.steps)
    lines = [walk.line(line, number) for line in day.lines[block.first : last]]
    plots = [plot for plot in day.plots if block.first <= plot.first < last]
    found: list[Staged] = []
    for plot, following in zip(plots, [*plots[1:], None], strict=False):
        kind = lexicon.kinds[plot.kind]
        values = {name: random.choice(sorted(lexicon.wordings[name])) for name in kind.attributes}
        said = {name: random.sample(wordings.of(name, value, number), 2) for name, value in values.items()}
        places = range(plot.first - block.first, plot.last - block.first + 1)
        for place in places:
            lines[place] = _with_remark(lines[place], said)
        before = block.free_until - 8
        if following:
            before = min(before, block.steps[following.first - block.first] - 2)
        onset = _onset(random, block.steps[places[-1]], before, block.steps)
        found.append(Staged(kind, values, walk.plot(plot, number), places, onset))
    return lines, found


def _with_remark(line: Line, said: dict[str, list[str]]) -> Line:
    """The line with a remark for each of its marks, which is used up; with a capital for `{Urgency}`."""

    def fill(text: str) -> str:
        for mark in MARK.findall(text):
            remark = said[mark.lower()].pop()
            text = text.replace(
                f"{{{mark}}}", remark[0].upper() + remark[1:] if mark[0].isupper() else remark, 1
            )
        return text

    return replace(line, summary=fill(line.summary), text=fill(line.text))


def _onset(random: Random, cue: float, before: float, steps: Sequence[float]) -> float:
    """When help would be sought after a scene's last event: at least a second after the step before it."""
    onset = min(cue + lognormal(random, 75, 0.7, 12, 600), before)
    near = [step for step in steps if abs(step - onset) < 1.2]
    return near[-1] + 1.5 if near else onset
