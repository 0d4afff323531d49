"""The words of a set: how attribute values are put, what kinds of scenes there are, and the chronicles.

A lexicon is a folder of text files with `[name]` sections, one wording a line, and a folder of chronicles.
The published one lies beside this module; a private set takes one that was never published, with the
published chronicles unless it has its own: these tell where scenes lie, and no value of any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from atr_data.reading import read_text
from atr_data.timing.faults import TimingError
from atr_data.timing.intents import INTENTS, Intent
from atr_datagen.timing.chronicle import Chronicle, Kind
from atr_datagen.timing.read_chronicle import read_chronicle
from atr_datagen.timing.settings import PUBLIC_SALT

PUBLIC_LEXICON = Path(__file__).with_name("lexicon")
SHORTEST_SALT = 16
MIN_WORDINGS, MIN_KINDS, VALUES, INTENTS_PER_KIND = 24, 12, 3, 3
_CHRONICLES = "chronicles"
_WHOLE_FILES = ("kinds", "injections")

Sections = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`wordings` goes from attribute and value to at least 24 ways of putting it. `injections` are titles
    that tell the agent what to do."""

    wordings: Mapping[str, Sections]
    kinds: Mapping[str, Kind]
    injections: tuple[str, ...]
    chronicles: tuple[Chronicle, ...]

    def pairs(self, kind: Kind) -> list[tuple[str, str]]:
        """The six (attribute, value) pairs of a kind, in a fixed order."""
        return [(name, value) for name in kind.attributes for value in sorted(self.wordings[name])]


def lexicon_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files of words and the chronicles that go with them, in order."""
    own = sorted((folder / _CHRONICLES).glob("*.txt"))
    return sorted(folder.glob("*.txt")), own or sorted((PUBLIC_LEXICON / _CHRONICLES).glob("*.txt"))


def load_lexicon(folder: Path = PUBLIC_LEXICON) -> Lexicon:
    """Raises TimingError `bad_config` naming the file and the section or line that falls short."""
    words = load_words(folder)
    _, files = lexicon_files(folder)
    return replace(words, chronicles=tuple(read_chronicle(path, words.kinds) for path in files))


def load_words(folder: Path = PUBLIC_LEXICON) -> Lexicon:
    """A lexicon without its chronicles."""
    if not folder.is_dir():
        raise TimingError("bad_config", "no such lexicon folder", path=folder)
    files = {path.stem: _sections(path) for path in lexicon_files(folder)[0]}
    for name in _WHOLE_FILES:
        if name not in files:
            raise TimingError("bad_config", f"the lexicon has no {name}.txt", path=folder)
    wordings = {name: sections for name, sections in files.items() if name not in _WHOLE_FILES}
    for name, sections in wordings.items():
        _check_wordings(folder / f"{name}.txt", sections)
    kinds = {name: _kind(folder, name, lines, wordings) for name, lines in files["kinds"].items()}
    if len(kinds) < MIN_KINDS:
        raise TimingError(
            "bad_config", f"{len(kinds)} kinds, at least {MIN_KINDS}", path=folder / "kinds.txt"
        )
    injections = tuple(line for lines in files["injections"].values() for line in lines)
    if not injections:
        raise TimingError("bad_config", "no titles", path=folder / "injections.txt")
    return Lexicon(wordings, kinds, injections, ())


def check_private(salt: str, lexicon: Lexicon, folder: Path) -> None:
    """Raises TimingError `bad_config` when salt or words of a private set can be known: a salt that is
    published or short enough to be tried out, or a wording of an attribute that the published lexicon has."""
    if salt == PUBLIC_SALT or len(salt) < SHORTEST_SALT:
        raise TimingError(
            "bad_config",
            f"a private set needs a salt of at least {SHORTEST_SALT} characters that was never published",
        )
    public = {_plain(line) for line in _all_wordings(load_words())}
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
    fields = {key.strip(): tuple(rest.split()) for key, _, rest in (line.partition(":") for line in lines)}
    path = folder / "kinds.txt"
    attributes, intents = fields.get("dims", ()), fields.get("intents", ())
    if len(set(attributes)) != 2 or not set(attributes) <= set(wordings):
        raise TimingError("bad_config", f"[{name}] needs two attributes that have wordings", path=path)
    if len(set(intents)) != INTENTS_PER_KIND or not set(intents) <= set(INTENTS):
        raise TimingError("bad_config", f"[{name}] needs {INTENTS_PER_KIND} known intents", path=path)
    return Kind(name, attributes, cast("tuple[Intent, ...]", intents))


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
