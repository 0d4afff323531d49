"""The words of a set: attributes and their values, kinds of scenes, and chronicles with their remarks.

A lexicon is a folder of text files with `[name]` sections, a folder `chronicles` and a folder `remarks`, with
a file for each job in either. The published one lies beside this module. A private set takes one whose
remarks were never published; chronicles that it does not have are the published ones: these tell where scenes
lie, and no value of any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from atr_data.reading import read_text
from atr_data.timing.faults import TimingError
from atr_data.timing.intents import INTENTS, Intent
from atr_datagen.timing.chronicle import Chronicle, Kind
from atr_datagen.timing.read_chronicle import read_chronicle
from atr_datagen.timing.read_remarks import with_remarks
from atr_datagen.timing.settings import PUBLIC_SALT

PUBLIC_LEXICON = Path(__file__).with_name("lexicon")
SHORTEST_SALT = 16
MIN_WORDINGS, MIN_KINDS, VALUES, INTENTS_PER_KIND = 24, 12, 3, 3
_WORD_FILES = ("attributes", "kinds", "injections")

_Sections = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`values` are those of each attribute. `injections` are titles that tell the agent what to do."""

    values: Mapping[str, tuple[str, ...]]
    kinds: Mapping[str, Kind]
    injections: tuple[str, ...]
    chronicles: tuple[Chronicle, ...]

    def pairs(self, kind: Kind) -> list[tuple[str, str]]:
        """The six (attribute, value) pairs of a kind, in a fixed order."""
        return [(name, value) for name in kind.attributes for value in sorted(self.values[name])]

    def wordings(self) -> Iterator[tuple[str, str, str]]:
        """Every attribute and value with each text that states it somewhere."""
        for chronicle in self.chronicles:
            for plot in chronicle.plots:
                for (name, value), texts in plot.remarks.items():
                    yield from ((name, value, text) for text in texts)


def lexicon_files(folder: Path) -> list[Path]:
    """All files that a set of this lexicon is made of, in order."""
    jobs = [path for pair in _job_files(folder) for path in pair]
    return [*(folder / f"{name}.txt" for name in _WORD_FILES), *jobs]


def load_lexicon(folder: Path = PUBLIC_LEXICON) -> Lexicon:
    """Raises TimingError `bad_config` naming the file and the section or line that falls short."""
    words = load_words(folder)
    chronicles = [
        with_remarks(read_chronicle(chronicle, words.kinds), remarks, words.kinds, words.values)
        for chronicle, remarks in _job_files(folder)
    ]
    found = replace(words, chronicles=tuple(chronicles))
    _check_wordings(found, folder)
    return found


def load_words(folder: Path = PUBLIC_LEXICON) -> Lexicon:
    """A lexicon without its chronicles."""
    if not folder.is_dir():
        raise TimingError("bad_config", "no such lexicon folder", path=folder)
    for name in _WORD_FILES:
        if not (folder / f"{name}.txt").is_file():
            raise TimingError("bad_config", f"the lexicon has no {name}.txt", path=folder)
    attributes, kinds, injections = (_sections(folder / f"{name}.txt") for name in _WORD_FILES)
    values = {name: _values(folder, name, lines) for name, lines in attributes.items()}
    known = {name: _kind(folder, name, lines, values) for name, lines in kinds.items()}
    if len(known) < MIN_KINDS:
        raise TimingError(
            "bad_config", f"{len(known)} kinds, at least {MIN_KINDS}", path=folder / "kinds.txt"
        )
    titles = tuple(line for lines in injections.values() for line in lines)
    if not titles:
        raise TimingError("bad_config", "no titles", path=folder / "injections.txt")
    return Lexicon(values, known, titles, ())


def check_private(salt: str, lexicon: Lexicon, folder: Path) -> None:
    """Raises TimingError `bad_config` when salt or words of a private set can be known: a salt that is
    published or short enough to be tried out, or a remark that the published lexicon has."""
    if salt == PUBLIC_SALT or len(salt) < SHORTEST_SALT:
        raise TimingError(
            "bad_config",
            f"a private set needs a salt of at least {SHORTEST_SALT} characters that was never published",
        )
    public = {_plain(text) for _, _, text in load_lexicon().wordings()}
    for _, _, text in lexicon.wordings():
        if _plain(text) in public:
            raise TimingError(
                "bad_config",
                f"a private set needs a lexicon that was never published; {text!r} is in the public one",
                path=folder,
            )


def _job_files(folder: Path) -> list[tuple[Path, Path]]:
    """Chronicle and remarks of each job that the folder has remarks for."""
    found: list[tuple[Path, Path]] = []
    for remarks in sorted((folder / "remarks").glob("*.txt")):
        places = [home / "chronicles" / remarks.name for home in (folder, PUBLIC_LEXICON)]
        chronicle = next((path for path in places if path.is_file()), None)
        if chronicle is None:
            raise TimingError("bad_config", f"there is no chronicles/{remarks.name}", path=remarks)
        found.append((chronicle, remarks))
    for chronicle in sorted((folder / "chronicles").glob("*.txt")):
        if not (folder / "remarks" / chronicle.name).is_file():
            raise TimingError("bad_config", f"there is no remarks/{chronicle.name}", path=chronicle)
    if not found:
        raise TimingError("bad_config", "the lexicon has no remarks/<job>.txt", path=folder)
    return found


def _plain(line: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in line.casefold()).split())


def _check_wordings(lexicon: Lexicon, folder: Path) -> None:
    texts: dict[tuple[str, str], set[str]] = {}
    for name, value, text in lexicon.wordings():
        texts.setdefault((name, value), set()).add(_plain(text))
    for (name, value), found in texts.items():
        if len(found) < MIN_WORDINGS:
            raise TimingError(
                "bad_config", f"{name} {value} has {len(found)} of {MIN_WORDINGS} wordings", path=folder
            )


def _values(folder: Path, name: str, lines: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(line.partition(":")[0].strip() for line in lines)
    if len(set(found)) != VALUES:
        raise TimingError(
            "bad_config",
            f"[{name}] has {len(set(found))} values, not {VALUES}",
            path=folder / "attributes.txt",
        )
    return found


def _kind(folder: Path, name: str, lines: tuple[str, ...], values: _Sections) -> Kind:
    fields = {key.strip(): tuple(rest.split()) for key, _, rest in (line.partition(":") for line in lines)}
    path = folder / "kinds.txt"
    attributes, intents = fields.get("dims", ()), fields.get("intents", ())
    if len(set(attributes)) != 2 or not set(attributes) <= set(values):
        raise TimingError("bad_config", f"[{name}] needs two known attributes", path=path)
    if len(set(intents)) != INTENTS_PER_KIND or not set(intents) <= set(INTENTS):
        raise TimingError("bad_config", f"[{name}] needs {INTENTS_PER_KIND} known intents", path=path)
    return Kind(name, attributes, cast("tuple[Intent, ...]", intents))


def _sections(path: Path) -> _Sections:
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
