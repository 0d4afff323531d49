"""The blanks that a lexicon's lines may have, and the refusal of any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from string import Formatter

from atr_data.timing.faults import TimingError

SCENE = frozenset({"obj", "fact", "person", "org"})
QUERY = frozenset({"obj", "fact"})
FACT = frozenset({"n"})
FRAME = frozenset({"obj", "wording", "person"})
ORDINARY = frozenset({"file", "project", "person", "place", "org", "thing"})
THREAD = ORDINARY | {"other", "n", "m", "fewer", "big", "day", "time", "room"}

Sections = Mapping[str, tuple[str, ...]]


def check_blanks(path: Path, section: str, lines: Iterable[str], allowed: Set[str]) -> None:
    """Raises TimingError `bad_config` for a line with a blank that nothing fills, or an odd brace."""
    for line in lines:
        try:
            blanks = [name for _, name, _, _ in Formatter().parse(line) if name is not None]
        except ValueError as error:
            raise TimingError("bad_config", f"[{section}] {line!a:.60}: {error}", path=path) from error
        if wrong := [name for name in blanks if name not in allowed]:
            may = ", ".join(f"{{{name}}}" for name in sorted(allowed))
            reason = f"[{section}] {line!a:.60}: nothing fills {{{wrong[0]}}}; there are {may}"
            raise TimingError("bad_config", reason, path=path)


def check_work(path: Path, sections: Sections) -> None:
    """Sections of ordinary work, and those in which applications speak of scenes."""
    for section, lines in sections.items():
        plain = section in ("things", "projects", "topics", "injections")
        framed = section.endswith((" says", " looks"))
        check_blanks(path, section, lines, frozenset() if plain else FRAME if framed else ORDINARY)
