"""The world behind a user's events: projects with files and people that come to the front and fade again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from atr_data.timing.events import AppCategory
from atr_datagen.timing import names
from atr_datagen.timing.lexicon import Lexicon
from atr_datagen.timing.windows import About, Desk, ending, ending_in, suits

_KEEP_PROJECT, _KEEP_FILE, _INJECTION = 0.88, 0.55, 0.004
_PARTS = "plan notes budget draft figures index schedule minutes summary check parser store view layout terms"


@dataclass(frozen=True, slots=True)
class View:
    """What one event shows: the visible part of a work event."""

    category: AppCategory
    app: str
    title: str
    summary: str | None
    text: str | None
    target: str | None


@dataclass(slots=True)
class Project:
    """`stems` are its files without ending, the one in use last."""

    name: str
    people: list[str]
    stems: list[str]
    firm: str


@dataclass(slots=True)
class World:
    """One user's surroundings. `focus` is the project in hand."""

    desk: Desk
    lexicon: Lexicon
    projects: list[Project]
    places: list[str]
    topics: list[str]
    random: Random
    focus: Project = field(init=False)
    lately: deque[str] = field(default_factory=lambda: deque[str](maxlen=40))

    def __post_init__(self) -> None:
        self.focus = self.projects[0]

    def turn_to_something(self) -> None:
        """At the start of a block: mostly the same few projects; now and then one gains a file."""
        weights = [3.0 / (rank + 1) for rank in range(len(self.projects))]
        self.focus = self.random.choices(self.projects, weights)[0]
        if self.random.random() < 0.12:
            self.focus.stems.append(self.new_stem(self.focus.name))
            del self.focus.stems[:-9]
        if self.random.random() < 0.02:
            self.projects.append(self.projects.pop(0))

    def new_stem(self, project: str) -> str:
        part = self.random.choice(_PARTS.split())
        return names.slug(f"{project} {part} {self.random.choice(('', '2', 'v3', 'final', 'old', 'b'))}")

    def ordinary(self, kind: AppCategory) -> View:
        """An event of ordinary work. Nothing is done twice within a while."""
        random = self.random
        if random.random() > _KEEP_PROJECT:
            self.turn_to_something()
        about = self.about(kind)
        sentence = self._fresh(self.lexicon.work[kind])
        thing = random.choice(self.lexicon.work["things"])
        summary = sentence.format(
            file=about.file,
            project=about.project,
            person=about.person,
            place=about.place,
            org=self.focus.firm,
            thing=thing,
        )
        title = self.desk.title(random, kind, about)
        if random.random() < _INJECTION:
            title = f"{random.choice(self.lexicon.work['injections'])} - {self.desk.apps[kind]}"
        names_file = kind in ("ide", "office", "reader", "files") or about.file in summary
        return View(
            kind,
            self.desk.apps[kind],
            title,
            summary if random.random() > 0.04 else None,
            self._text(kind, about) if random.random() < 0.3 else None,
            about.file if names_file else None,
        )

    def _fresh(self, sentences: Sequence[str]) -> str:
        """One that was not used lately, while there are some."""
        sentence = self.random.choice(sentences)
        for _ in range(6):
            if sentence not in self.lately:
                break
            sentence = self.random.choice(sentences)
        self.lately.append(sentence)
        return sentence

    def about(self, category: AppCategory) -> About:
        """What an ordinary window of that kind has in front."""
        random, project = self.random, self.focus
        if random.random() > _KEEP_FILE:
            project.stems.append(project.stems.pop(random.randrange(len(project.stems))))
        fitting = [stem for stem in project.stems if suits(category, f"{stem}.{ending(stem)}")]
        stem = (fitting or project.stems)[-1]
        file = f"{stem}.{ending(stem) if fitting else ending_in(category, stem)}"
        subject = random.choice((project.name, f"{project.name} {stem.split('_')[1]}", project.firm))
        return About(
            subject,
            file,
            names.slug(project.name),
            project.name,
            random.choice(self.places),
            random.choice(project.people),
        )

    def _text(self, category: AppCategory, about: About) -> str:
        """What else stands in a window of that kind."""
        random = self.random
        at = f"{random.randint(8, 17)}:{random.choice(('00', '10', '15', '30', '45'))}"
        changed = f"{about.project} / {about.file} / changed {random.randint(1, 28)} days ago"
        counted = f"{random.randint(2, 60)} items, {random.randint(1, 900)} kB"
        state = f"{about.project}: open {random.randint(0, 9)}, done {random.randint(1, 30)}"
        match category:
            case "mail":
                return random.choice((f"To: {about.person}; Cc: {self.focus.firm}", f"{about.person}, {at}"))
            case "chat":
                return random.choice((f"{about.person}: see you at {at}", f"{about.person} is typing"))
            case "files":
                return random.choice((counted, changed))
            case "ide" | "terminal":
                return random.choice((changed, state, f"line {random.randint(1, 400)}, saved {at}"))
            case "office" | "reader":
                return random.choice((changed, f"{random.randint(90, 4000)} words", f"saved {at}"))
            case "browser":
                return random.choice((state, f"{about.place}, {at}, room {random.randint(1, 40)}"))
            case "meeting" | "other":
                return random.choice((f"{about.place}, {at}, room {random.randint(1, 40)}", f"until {at}"))


def build_world(random: Random, desk: Desk, lexicon: Lexicon) -> World:
    """Six to eight projects, each with people, files and a firm that it is for."""
    words = names.distinct(random, 8 + 5 + 70)
    people = [names.person(random) for _ in range(16)]
    world = World(
        desk,
        lexicon,
        [Project(words[0], people[:4], [names.slug(f"{words[0]} plan")], "")],
        words[8:13],
        words[13:],
        random,
    )
    world.projects = [
        Project(name, random.sample(people, random.randint(3, 6)), [], names.firm(random))
        for name in words[: random.randint(6, 8)]
    ]
    for project in world.projects:
        project.stems.extend(world.new_stem(project.name) for _ in range(random.randint(4, 7)))
    world.focus = world.projects[0]
    return world
