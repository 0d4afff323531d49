"""Applications, and how each puts a window's title. Roles set how often each kind is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from atr_data.timing.events import AppCategory

_APPS: dict[AppCategory, tuple[str, ...]] = {
    "browser": ("Ospray", "Wanderer Web", "Pelagic"),
    "ide": ("Loomcode", "Brackett", "Tesserae"),
    "terminal": ("Ternshell", "Kettle Terminal"),
    "office": ("Plume Office", "Vellum Suite", "Quire"),
    "reader": ("Folio Reader", "Leafer"),
    "files": ("Cabinet", "Drawers"),
    "mail": ("Postkey", "Letterbird"),
    "chat": ("Parley", "Huddlebox"),
    "meeting": ("Roundroom", "Facet Call"),
    "other": ("Minder", "Corkboard", "Daybook"),
}
ASSISTANTS = ("Quillo", "Sage Corner", "Mentant")
_ENDINGS: dict[AppCategory, tuple[str, ...]] = {
    "ide": ("py", "ts", "toml"),
    "office": ("odt", "ods", "csv"),
    "reader": ("pdf", "odt"),
}
_OPEN_AS: dict[AppCategory, tuple[str, ...]] = {
    "ide": ("md", "txt"),
    "office": ("odt", "ods"),
    "reader": ("pdf",),
}

_SHARES: dict[str, dict[AppCategory, int]] = {
    "developer": {"browser": 20, "ide": 30, "terminal": 14, "office": 5, "reader": 4, "files": 5, "mail": 8},
    "case_worker": {"browser": 18, "office": 30, "reader": 12, "files": 9, "mail": 20, "chat": 6},
    "researcher": {"browser": 24, "ide": 8, "terminal": 5, "office": 20, "reader": 24, "files": 6, "mail": 9},
    "planner": {"browser": 16, "office": 26, "reader": 6, "files": 7, "mail": 22, "chat": 14},
    "designer": {"browser": 24, "ide": 6, "office": 24, "reader": 8, "files": 14, "mail": 12, "chat": 10},
    "editor": {"browser": 20, "office": 34, "reader": 18, "files": 6, "mail": 14, "chat": 7},
}
ROLES = tuple(_SHARES)
_STAYS = 0.4
"""How often the next event is in the same application."""

_ALWAYS: dict[AppCategory, int] = {"chat": 8, "other": 3}


@dataclass(frozen=True, slots=True)
class Desk:
    """One user's applications and how often each kind is in front."""

    role: str
    apps: Mapping[AppCategory, str]
    assistant: str
    login: str
    host: str

    @property
    def shares(self) -> Mapping[AppCategory, int]:
        """How often each kind of application is turned to, in parts of no fixed sum."""
        return _ALWAYS | _SHARES[self.role]

    def categories(self, random: Random, number: int) -> list[AppCategory]:
        """Of so many events in a row, whatever they are about: drawn from the role's shares, and often the
        same for a while."""
        shares = self.shares
        found: list[AppCategory] = []
        while len(found) < number:
            if found and random.random() < _STAYS:
                found.append(found[-1])
            else:
                found.append(random.choices(list(shares), list(shares.values()))[0])
        return found

    def title(self, random: Random, category: AppCategory, about: About) -> str:
        """The title of a window of that kind."""
        app = self.apps[category]
        match category:
            case "browser":
                return f"{about.subject} - {about.place} — {app}"
            case "ide":
                mark = random.choice(("", "● "))
                return f"{mark}{about.file} – {about.project} – {app}"
            case "terminal":
                return f"{self.login}@{self.host}: ~/{about.folder}"
            case "office":
                return f"{about.file}{random.choice(('', ' *'))} - {app}"
            case "reader":
                stem = about.file.rpartition(".")[0]
                last = 8 + sum(place * letter for place, letter in enumerate(stem.encode())) % 130
                page = min(last, 1 + int(random.expovariate(1 / 9)))
                return f"{about.file} ({page} of {last}) - {app}"
            case "files":
                return f"{about.folder} - {app}"
            case "mail":
                box = f"Inbox ({random.randint(0, 28)})"
                return random.choice(
                    (f"Re: {about.subject} - {app}", f"{about.subject} - {app}", f"{box} - {app}")
                )
            case "chat":
                return random.choice((f"#{about.folder} | {app}", f"{about.person} | {app}"))
            case "meeting":
                return f"{about.subject} – {app}"
            case "other":
                return app


@dataclass(frozen=True, slots=True)
class About:
    """What a window shows."""

    subject: str
    file: str
    folder: str
    project: str
    place: str
    person: str


def furnish(random: Random, role: str, login: str) -> Desk:
    """A user's set of applications."""
    apps: dict[AppCategory, str] = {category: random.choice(names) for category, names in _APPS.items()}
    host = random.choice(("desk", "box", "tower", "node")) + str(random.randint(2, 48))
    return Desk(role, apps, random.choice(ASSISTANTS), login, host)


def suits(category: AppCategory, file: str) -> bool:
    """Whether a window of that kind would have the file open."""
    endings = _ENDINGS.get(category)
    return endings is None or file.rpartition(".")[2] in endings


def ending_in(category: AppCategory, stem: str) -> str:
    """The ending of a file as a window of that kind has it open."""
    choices = _OPEN_AS.get(category, ("odt", "pdf"))
    return choices[sum(stem.encode()) % len(choices)]


def ending(stem: str) -> str:
    """The ending of a file, always the same for one stem."""
    parts = "view store parser layout check"
    code = any(part in stem.split("_") for part in parts.split())
    choices = ("py", "ts", "toml") if code else ("odt", "ods", "pdf", "odt", "csv")
    return choices[sum(stem.encode()) % len(choices)]
