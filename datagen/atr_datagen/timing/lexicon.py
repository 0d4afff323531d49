"""The words of a set: how attribute values are put, what kinds of scenes there are, what users ask.

A lexicon is a folder of text files with `[name]` sections, one wording a line. The published one lies beside
this module; a private set takes one that was never published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from atr_data.reading import read_text
from atr_data.timing.events import AppCategory
from atr_data.timing.faults import TimingError
from atr_data.timing.intents import INTENTS, Intent
from atr_datagen.timing.blanks import FACT, QUERY, SCENE, THREAD, check_blanks, check_work
from atr_datagen.timing.settings import PUBLIC_SALT
from atr_datagen.timing.threads import Thread, read_threads

PUBLIC_LEXICON = Path(__file__).with_name("lexicon")
SHORTEST_SALT = 16
MIN_WORDINGS, MIN_KINDS, VALUES, INTENTS_PER_KIND = 24, 12, 3, 3
_WHOLE_FILES = ("kinds", "queries", "threads", "work")

Sections = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of scene: two attributes, three intents, and the sentences that tell of it, `sayings` of what
    somebody does, `tellings` of what people write to each other or note down."""

    name: str
    attributes: tuple[str, ...]
    intents: tuple[Intent, ...]
    nouns: tuple[str, ...]
    facts: tuple[str, ...]
    sayings: tuple[str, ...]
    tellings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`wordings` goes from attribute and value to at least 24 ways of putting it."""

    wordings: Mapping[str, Sections]
    kinds: tuple[Kind, ...]
    queries: Sections
    work: Sections
    threads: tuple[Thread, ...]

    def pairs(self, kind: Kind) -> list[tuple[str, str]]:
        """The six (attribute, value) pairs of a kind, in a fixed order."""
        return [(name, value) for name in kind.attributes for value in sorted(self.wordings[name])]


def load_lexicon(folder: Path = PUBLIC_LEXICON) -> Lexicon:
    """Raises TimingError `bad_config` naming the file and the section that falls short."""
    if not folder.is_dir():
        raise TimingError("bad_config", "no such lexicon folder", path=folder)
    files = {path.stem: _sections(path) for path in sorted(folder.glob("*.txt"))}
    for name in _WHOLE_FILES:
        if name not in files:
            raise TimingError("bad_config", f"the lexicon has no {name}.txt", path=folder)
    wordings = {name: sections for name, sections in files.items() if name not in _WHOLE_FILES}
    for name, sections in wordings.items():
        _check_wordings(folder / f"{name}.txt", sections)
    kinds = tuple(_kind(folder, name, lines, wordings) for name, lines in files["kinds"].items())
    if len(kinds) < MIN_KINDS:
        raise TimingError(
            "bad_config", f"{len(kinds)} kinds, at least {MIN_KINDS}", path=folder / "kinds.txt"
        )
    wanted = [f"{name}{part}" for name in get_args(AppCategory) for part in ("", " says", " looks")]
    for section in (*wanted, "things", "projects", "topics", "injections"):
        if not files["work"].get(section):
            raise TimingError("bad_config", f"no [{section}]", path=folder / "work.txt")
    check_work(folder / "work.txt", files["work"])
    for section in (*INTENTS, "follow_up"):
        if not files["queries"].get(section):
            raise TimingError("bad_config", f"no queries for {section}", path=folder / "queries.txt")
        check_blanks(folder / "queries.txt", section, files["queries"][section], QUERY)
    for section, lines in files["threads"].items():
        check_blanks(folder / "threads.txt", section, lines, THREAD)
    return Lexicon(wordings, kinds, files["queries"], files["work"], read_threads(files["threads"]))


def check_private(salt: str, lexicon: Lexicon, folder: Path) -> None:
    """Raises TimingError `bad_config` when salt or words of a private set can be known: a salt that is
    published or short enough to be tried out, or a wording of an attribute that the published lexicon has."""
    if salt == PUBLIC_SALT or len(salt) < SHORTEST_SALT:
        raise TimingError(
            "bad_config",
            f"a private set needs a salt of at least {SHORTEST_SALT} characters that was never published",
        )
    public = {_plain(line) for line in _all_wordings(load_lexicon())}
    for line in _all_wordings(lexicon):
        if _plain(line) in public:
            raise TimingError(
                "bad_config",
                f"a private set needs a lexicon that was never published; {line!r} is in the public one",
                path=folder,
            )


def _all_wordings(lexicon: Lexicon) -> list[str]:
    return [line for values in lexicon.wordings.values() for lines in values.values() for line in lines]


def _plain(line: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in line.casefold()).split())


def _check_wordings(path: Path, sections: Sections) -> None:
    if len(sections) != VALUES:
        raise TimingError("bad_config", f"{len(sections)} values, not {VALUES}", path=path)
    for value, lines in sections.items():
        if len(set(lines)) < MIN_WORDINGS:
            raise TimingError("bad_config", f"[{value}] has {len(set(lines))} of {MIN_WORDINGS}", path=path)


def _kind(folder: Path, name: str, lines: tuple[str, ...], wordings: Mapping[str, Sections]) -> Kind:
    fields: dict[str, list[str]] = {}
    for line in lines:
        key, _, rest = line.partition(":")
        fields.setdefault(key.strip(), []).append(rest.strip())
    path = folder / "kinds.txt"
    if missing := [key for key in ("dims", "intents", "noun", "fact", "say", "tell") if not fields.get(key)]:
        raise TimingError("bad_config", f"[{name}] lacks {missing[0]}", path=path)
    attributes, intents = tuple(fields["dims"][0].split()), tuple(fields["intents"][0].split())
    if len(attributes) != 2 or not set(attributes) <= set(wordings):
        raise TimingError("bad_config", f"[{name}] needs two attributes that have wordings", path=path)
    if len(set(intents)) != INTENTS_PER_KIND or not set(intents) <= set(INTENTS):
        raise TimingError("bad_config", f"[{name}] needs {INTENTS_PER_KIND} known intents", path=path)
    check_blanks(path, name, (*fields["say"], *fields["tell"]), SCENE)
    check_blanks(path, name, fields["fact"], FACT)
    return Kind(
        name=name,
        attributes=attributes,
        intents=cast("tuple[Intent, ...]", intents),
        nouns=_choices(fields["noun"][0]),
        facts=_choices(fields["fact"][0]),
        sayings=tuple(fields["say"]),
        tellings=tuple(fields["tell"]),
    )


def _choices(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


def _sections(path: Path) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for number, raw in enumerate(read_text(path).splitlines(), start=1):
        line = raw.strip()
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            current = found.setdefault(line[1:-1], [])
        elif current is None:
            raise TimingError("bad_config", "a line stands before the first section", path=path, line=number)
        else:
            current.append(line)
    return {name: tuple(lines) for name, lines in found.items()}
