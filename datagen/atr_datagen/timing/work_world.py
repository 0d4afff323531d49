"""The world behind a user's events: projects with files and people that come to the front and fade again."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from atr_data.timing.events import AppCategory
from atr_datagen.timing import names
from atr_datagen.timing.lexicon import Lexicon
from atr_datagen.timing.threads import Loom, details
from atr_datagen.timing.windows import About, Desk, ending, ending_in, suits

_KEEP_PROJECT, _KEEP_FILE, _FOLLOWS, _INJECTION = 0.92, 0.55, 0.75, 0.004
_PARTS = (
    "plan notes budget draft figures index schedule minutes summary check parser store view layout terms "
    "list costs letter slides photos answers dates report quotes sketch checklist totals"
)
_ENDS = ("", "", "", "2", "v3", "final", "old", "b", "new", "march", "short", "copy", "2031")


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
    loom: Loom = field(init=False)

    def __post_init__(self) -> None:
        self.focus = self.projects[0]
        self.loom = Loom(self.lexicon.threads)

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
        return names.slug(f"{project} {part} {self.random.choice(_ENDS)}")

    def ordinary(self, category: AppCategory) -> View:
        """An event of ordinary work: mostly the next step of the matter in hand, otherwise something in an
        application of that category. Nothing is done twice within a while."""
        random = self.random
        if random.random() > _KEEP_PROJECT:
            self.turn_to_something()
        kind, about, summary = self._in_hand(category) or self._by_itself(category)
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

    def _in_hand(self, category: AppCategory) -> tuple[AppCategory, About, str] | None:
        """A step of a thread: of the last one, wherever it leads, or of any that has one here."""
        random = self.random
        found = None
        if category != "meeting" and random.random() < _FOLLOWS:
            found = self.loom.follows(random, self.desk.shares)
        if found is None:
            found = self.loom.goes_on(random, category)
        if found is not None:
            running, step = found
            wording = random.choice(step.wordings)
            kind = self.loom.place(random, step, category, self.desk.shares)
            leads = "{other}" in wording and "{person}" not in wording
            about = replace(running.matter, person=running.words["other"]) if leads else running.matter
            about = _shown(kind, self._opened_in(kind, about), wording, running.words)
            running.matter = replace(running.matter, subject=about.subject)
            return kind, about, wording.format(**(running.words | {"file": about.file}))
        thread = self.loom.begins(random, category)
        if thread is None:
            return None
        person, other = random.sample(self.focus.people, 2)
        about = replace(self.about(category), person=person)
        words = self._words(about) | {"other": other} | details(random)
        running, step = self.loom.begin(thread, about, words)
        wording = random.choice(step.wordings)
        running.matter = _shown(category, about, wording, words)
        return category, running.matter, wording.format(**words)

    def _opened_in(self, kind: AppCategory, about: About) -> About:
        """The same matter in the window of another application, which opens another form of its file."""
        stem, _, _ = about.file.rpartition(".")
        return about if suits(kind, about.file) else replace(about, file=f"{stem}.{ending_in(kind, stem)}")

    def _by_itself(self, kind: AppCategory) -> tuple[AppCategory, About, str]:
        about, wording = self.about(kind), self._fresh(self.lexicon.work[kind])
        words = self._words(about)
        if kind in ("ide", "office", "reader") and self.random.random() < 0.6:
            words["file"] = "it"  # the title has the name
        return kind, _shown(kind, about, wording, words), wording.format(**words)

    def _words(self, about: About) -> dict[str, str]:
        return {
            "file": about.file,
            "project": about.project,
            "person": about.person,
            "place": about.place,
            "org": self.focus.firm,
            "thing": self.random.choice(self.lexicon.work["things"]),
        }

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
        part = stem.removeprefix(f"{names.slug(project.name)}_").partition("_")[0]
        subject = random.choice((project.name, f"{project.name}, {part}", project.firm))
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


def _shown(kind: AppCategory, about: About, wording: str, words: Mapping[str, str]) -> About:
    """A page of the web is called after what it is looked up for."""
    if kind == "browser":
        for name in ("thing", "org", "place", "project"):
            if f"{{{name}}}" in wording:
                subject = words[name][0].upper() + words[name][1:]
                return replace(about, subject=subject if name != "place" else f"Map of {subject}")
    return about


def build_world(random: Random, desk: Desk, lexicon: Lexicon) -> World:
    """Six to eight projects, each with people, files and a firm that it is for."""
    words = names.distinct(random, 8 + 5 + 70)
    called = random.sample(lexicon.work["projects"], min(5, len(lexicon.work["projects"])))
    words[: len(called)] = [name.capitalize() for name in called]
    words[:8] = random.sample(words[:8], 8)
    people = [names.person(random) for _ in range(16)]
    world = World(
        desk,
        lexicon,
        [Project(words[0], people[:4], [names.slug(f"{words[0]} plan")], "")],
        words[8:13],
        [*words[48:], *random.sample(lexicon.work["topics"], min(35, len(lexicon.work["topics"])))],
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
