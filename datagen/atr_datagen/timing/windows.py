"""Applications: how each puts a window's title, and what a title says is in focus."""

from __future__ import annotations

import re
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
}
ASSISTANTS = ("Quillo", "Sage Corner", "Mentant")

_UNSAVED = "● "
_PAGES = re.compile(r" \((\d+) of (\d+)\)$")
_GRAMMAR: dict[AppCategory, tuple[re.Pattern[str], str]] = {
    "reader": (_PAGES, "a reader's title ends with (PAGE of PAGES)"),
    "ide": (re.compile(r".+ – .+"), "an ide's title is '[● ]FILE – FOLDER', with an en dash"),
    "terminal": (re.compile(r"^[~/]"), "a terminal's title is a folder: ~/NAME"),
    "browser": (re.compile(r".+ - .+"), "a browser's title is 'PAGE - SITE'"),
    "office": (
        re.compile(r"\.[a-z]{2,4}( \*)?$"),
        "an office title is a file with its ending, ' *' when unsaved",
    ),
    "chat": (
        re.compile(r"^#[\w-]+$|^[^\W\d_]\w+ \w"),
        "a chat's title is '#channel' or a person's full name",
    ),
}


@dataclass(frozen=True, slots=True)
class Desk:
    """One user's applications."""

    role: str
    apps: Mapping[AppCategory, str]
    assistant: str
    login: str
    host: str

    def window(self, category: AppCategory, title: str) -> tuple[str, str]:
        """The application and the title of a window that shows what a chronicle calls `title`."""
        app = self.apps.get(category, title)  # a small tool is called what it is
        match category:
            case "browser":
                return app, f"{title} — {app}"
            case "ide" | "meeting":
                return app, f"{title} – {app}"
            case "terminal":
                return app, f"{self.login}@{self.host}: {title}"
            case "chat":
                return app, f"{title} | {app}"
            case "other":
                return app, title
            case "office" | "reader" | "files" | "mail":
                return app, f"{title} - {app}"


def furnish(random: Random, role: str, login: str) -> Desk:
    """A user's set of applications."""
    apps: dict[AppCategory, str] = {category: random.choice(names) for category, names in _APPS.items()}
    host = random.choice(("desk", "box", "tower", "node")) + str(random.randint(2, 48))
    return Desk(role, apps, random.choice(ASSISTANTS), login, host)


def in_focus(category: AppCategory, title: str) -> str | None:
    """The file, folder or page that a window has in front."""
    title = title.removeprefix(_UNSAVED).removesuffix(" *")
    match category:
        case "ide":
            return title.split(" – ")[0]
        case "reader":
            return _PAGES.sub("", title)
        case "office" | "files":
            return title
        case "browser":
            return title.split(" - ")[0]
        case _:
            return None


def pages(title: str) -> tuple[int, int] | None:
    """The page that a reader shows and the number of them."""
    found = _PAGES.search(title)
    return (int(found[1]), int(found[2])) if found else None


def title_fault(category: AppCategory, title: str) -> str | None:
    """What is wrong with a title in a chronicle."""
    pattern, rule = _GRAMMAR.get(category, (re.compile("."), "no title"))
    return None if pattern.search(title) else rule
