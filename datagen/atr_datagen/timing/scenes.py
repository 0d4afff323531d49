"""Scenes: where in a day they lie, what they show, and in which words.

Everything here is made without knowing what the user wants help with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from atr_data.timing.events import AppCategory
from atr_datagen.timing import names
from atr_datagen.timing.clock import Block
from atr_datagen.timing.draws import lognormal
from atr_datagen.timing.halves import halves
from atr_datagen.timing.lexicon import Kind, Lexicon
from atr_datagen.timing.settings import Settings
from atr_datagen.timing.windows import About, ending_in
from atr_datagen.timing.work_world import View, World

_INTERRUPTED = 0.3
_PAGERS = ("less", "nano", "vi")
_NAMED_ABOVE = ("browser", "ide", "terminal", "office", "reader")
_TALKS = ("mail", "chat", "meeting", "other")


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a scene lies: the positions of its events in the block, and its virtual onset in seconds."""

    positions: tuple[int, ...]
    onset: float


@dataclass(frozen=True, slots=True)
class Plot:
    """What a scene is about. `thing` is the right target's name, a `noun` with a name before it; `foil_thing`
    is its double."""

    kind: Kind
    values: dict[str, str]
    noun: str
    thing: str
    foil_thing: str
    fact: str
    foil: str

    @property
    def target(self) -> str:
        return names.slug(self.thing)


def find_slots(random: Random, block: Block, settings: Settings) -> list[Slot]:
    """Scenes one after the other, none before the one ahead of it has passed its onset."""
    slots: list[Slot] = []
    at = 1 if block.meeting else random.choice((0, 0, 0, 1, 2))
    while random.random() < settings.scene_share:
        positions = [at]
        while len(positions) < 3:
            positions.append(positions[-1] + 1 + (random.random() < _INTERRUPTED))
        if positions[-1] >= len(block.steps):
            break
        cue = block.steps[positions[-1]]
        onset = min(cue + lognormal(random, 75, 0.7, 12, 600), block.free_until - 8)
        onset = _off_the_steps(onset, block.steps)
        slots.append(Slot(tuple(positions), onset))
        at = next((i for i, step in enumerate(block.steps) if step > onset), len(block.steps))
        at += random.choice((0, 1, 1, 2, 3))
    return slots


def _off_the_steps(onset: float, steps: Sequence[float]) -> float:
    """An onset lies at least a second after the step before it."""
    near = [step for step in steps if abs(step - onset) < 1.2]
    return near[-1] + 1.5 if near else onset


def draw_plot(random: Random, lexicon: Lexicon, topics: Sequence[str]) -> Plot:
    """Kind, values and details, all uniform and independent of each other."""
    kind = random.choice(lexicon.kinds)
    values = {name: random.choice(sorted(lexicon.wordings[name])) for name in kind.attributes}
    noun = random.choice(kind.nouns)
    name, double = random.sample(topics, 2)
    first, second = random.sample(range(2, 60), 2)
    pattern = random.choice(kind.facts)
    return Plot(
        kind,
        values,
        noun,
        f"{name} {noun}",
        f"{double} {noun}",
        pattern.format(n=first),
        pattern.format(n=second),
    )


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


def stage_scene(
    random: Random,
    plot: Plot,
    world: World,
    wordings: Sequence[str],
    categories: Sequence[AppCategory],
) -> list[View]:
    """The views of a scene's three events in random order: one tells its kind, the others an attribute each,
    in the manner of the application that is in front.

    One of them shows the double with its detail, which no good query names.
    """
    said: list[str | None] = [None, *wordings]
    random.shuffle(said)
    views = [
        _kind_view(random, plot, world, category)
        if wording is None
        else _attribute_view(random, plot, world, category, wording)
        for wording, category in zip(said, categories, strict=True)
    ]
    decoy = f"beside it {plot.foil_thing}, {plot.foil}"
    which = random.randrange(len(views))
    text = views[which].text
    views[which] = replace(views[which], text=f"{text} / {decoy}" if text else decoy)
    return views


def _kind_view(random: Random, plot: Plot, world: World, category: AppCategory) -> View:
    lines = plot.kind.tellings if category in _TALKS else plot.kind.sayings
    if category == "other":
        lines = [line for line in lines if "{person}" not in line and "{org}" not in line] or lines
    person = random.choice(world.focus.people)
    called = _called(random, plot, category)
    said = random.choice(lines).format(obj=called, fact=plot.fact, person=person, org=world.focus.firm)
    return _view(random, world, (plot.thing, person), category, (said, None), plot.target)


def _attribute_view(random: Random, plot: Plot, world: World, category: AppCategory, wording: str) -> View:
    person = random.choice(world.focus.people)
    frame = random.choice(world.lexicon.work[f"{category} says"])
    framed = frame.format(obj=_called(random, plot, category), wording=wording, person=person)
    double, other = names.slug(plot.foil_thing), world.focus.stems[-1]
    target = random.choice((double, double, other, other, None))
    shown = (framed, None)
    if random.random() < 0.4:
        look = random.choice(world.lexicon.work[f"{category} looks"]).format(obj=plot.thing)
        shown = (look, framed)
    return _view(random, world, (plot.thing, person), category, shown, target)


def _called(random: Random, plot: Plot, category: AppCategory) -> str:
    """In full, or by its kind alone where the title has the name."""
    return f"the {plot.noun}" if category in _NAMED_ABOVE and random.random() < 0.55 else plot.thing


def _view(
    random: Random,
    world: World,
    involved: tuple[str, str],
    category: AppCategory,
    shown: tuple[str, str | None],
    target: str | None,
) -> View:
    thing, person = involved
    around, stem = world.about(category), names.slug(thing)
    about = About(
        thing,
        f"{stem}.{ending_in(category, stem)}",
        around.folder,
        around.project,
        around.place,
        person,
    )
    title = world.desk.title(random, category, about)
    if category == "terminal":
        title = f"{title} - {random.choice(_PAGERS)} {stem}.txt"
    summary, text = shown
    return View(category, world.desk.apps[category], title, summary[:200], text, target)
