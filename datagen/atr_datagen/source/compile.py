"""Persona sources to episodes: the same bytes on every run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from atr_data.errors import DataError
from atr_data.files import write_atomic
from atr_datagen.source.document import Document, SourceError, UnreadableSource, nearest
from atr_datagen.source.draw_faces import PUBLIC, Salt, Shown, draw_faces
from atr_datagen.source.episodes import as_text, episode_of, lines_of
from atr_datagen.source.grammar import Source
from atr_datagen.source.header_checks import check_headers, check_persona
from atr_datagen.source.reading import Problems, SourceFile
from atr_datagen.source.scenario import LearningScenario, TestScenario, read_learning, read_test

_ReadT = TypeVar("_ReadT")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A persona, or the part of one that was asked for. `shown` are the faces that the episode shows."""

    document: Document
    source: Source
    tests: Sequence[TestScenario]
    learning: Sequence[LearningScenario]
    shown: Shown
    episode: Mapping[str, Any]

    @property
    def file_name(self) -> str:
        return f"{self.episode['episode_id']}.json"

    @property
    def lines(self) -> dict[str, Any]:
        """The simulated user's private knowledge. No part of it is in the episode."""
        return lines_of(self.source.persona.id, self.tests)


def compile_sources(
    sources: Path | Sequence[Path],
    out: Path,
    seed: int = 0,
    only: Sequence[str] | None = None,
    salt: Salt = PUBLIC,
) -> list[Path]:
    """Compiles source files, and those in folders, into `out` and returns the episode files written.

    `only` keeps the named personas; `salt` draws the faces. Raises SourceError with all that is wrong in any
    of them, or DataError when there is nothing to compile or `out` cannot be written; nothing is written
    then.
    """
    return write_episodes(read_sources(sources, seed, only, salt), out)


def write_episodes(compiled: Sequence[Compiled], out: Path) -> list[Path]:
    """Writes the episodes, and the question lines beside them, into a folder; returns the episode files.

    Raises DataError when it cannot be written.
    """
    episodes = {c.file_name: as_text(c.episode) for c in compiled}
    lines = {f"{c.source.persona.id}.lines.json": as_text(c.lines) for c in compiled}
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in {**lines, **episodes}.items():
            write_atomic(out / name, text)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=out) from error
    return [out / name for name in episodes]


def read_sources(
    sources: Path | Sequence[Path],
    seed: int = 0,
    only: Sequence[str] | None = None,
    salt: Salt = PUBLIC,
) -> list[Compiled]:
    """Source files, and those in folders, with their episodes, in the order of the file names.

    Raises SourceError or DataError as compile_sources does.
    """
    compiled: list[Compiled] = []
    failures: list[SourceError] = []
    for path in source_files(sources, only):
        try:
            compiled.append(compile_source(SourceFile.scan(path), seed, salt))
        except SourceError as error:
            failures.append(error)
    if failures:
        unreadable = any(isinstance(failure, UnreadableSource) for failure in failures)
        raise (UnreadableSource if unreadable else SourceError)(
            problem for failure in failures for problem in failure.problems
        )
    return compiled


def source_files(sources: Path | Sequence[Path], only: Sequence[str] | None) -> list[Path]:
    """The files meant, in the order of their names. Raises DataError when there is none."""
    given = [sources] if isinstance(sources, Path) else sources
    found = {file.stem: file for path in given for file in (path.glob("*.yaml") if path.is_dir() else [path])}
    if not found:
        raise DataError("no persona sources (*.yaml) here", path=next(iter(given), None))
    for name in only or found:
        if name not in found:
            raise DataError(f"no source of {name!r}; {nearest(name, found)}", path=next(iter(given), None))
    return [found[name] for name in sorted(only or found)]


def compile_source(file: SourceFile, seed: int = 0, salt: Salt = PUBLIC) -> Compiled:
    """Raises SourceError with all that could not be read and all that does not fit together."""
    document = file.document
    problems = Problems(document, list(file.problems))
    persona = Path(document.file).stem
    if file.persona is not None:
        check_persona(file.persona, persona, problems)
    sound_rules, sound_sessions = check_headers(file, problems)

    def sound(read: Callable[[], _ReadT]) -> Iterator[_ReadT]:
        """What was read without a problem; with one only in a part of the file that was not asked for."""
        before = len(problems.found)
        result = read()
        if len(problems.found) == before:
            yield result

    tests = [
        test
        for p in file.rules
        if p.index in sound_rules
        for test in sound(
            lambda p=p: read_test(p.block, file.rule_ids[p.index], p.index, seed, persona, problems)
        )
    ]
    learning = [
        session
        for p in file.learning
        if p.index in sound_sessions
        for session in sound(lambda p=p: read_learning(p.block, p.index, seed, persona, problems))
    ]
    wrong = [problem for problem in problems.found if file.concerns(str(problem))]
    if wrong:
        raise SourceError(wrong)
    source = file.source
    shown = draw_faces([(test.rule_id, test.rule) for test in tests], salt)
    episode = episode_of(source.persona, tests, learning, shown, seed, salt)
    return Compiled(document, source, tests, learning, shown, episode)


def with_faces(compiled: Compiled, shown: Shown, seed: int, salt: Salt = PUBLIC) -> Compiled:
    """The persona with those faces shown, whatever was drawn; rules that are not named are left out."""
    tests = [test for test in compiled.tests if test.rule_id in shown]
    episode = episode_of(compiled.source.persona, tests, compiled.learning, shown, seed, salt)
    return replace(compiled, tests=tests, shown=shown, episode=episode)


def redrawn(compiled: Iterable[Compiled], seed: int, salt: Salt) -> list[Compiled]:
    """The personas with their faces drawn under another salt."""
    return [
        with_faces(c, draw_faces([(test.rule_id, test.rule) for test in c.tests], salt), seed, salt)
        for c in compiled
    ]
