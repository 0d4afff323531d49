"""All gates that need no tool to be called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath
from typing import Any, cast

from atr_data.episode import Episode, LearningSession
from atr_data.load import load_episode
from atr_data.select import episode_files
from atr_data.validate import unknown_fields
from atr_datagen.gates import episode_gates as on_episodes
from atr_datagen.gates.draw_gate import uniform_draw
from atr_datagen.gates.face_gates import face_gates, on_each_face
from atr_datagen.gates.out_of_bounds import out_of_bounds
from atr_datagen.gates.overlap import Corpus, overlap
from atr_datagen.gates.owners import gate, owned, per_episode
from atr_datagen.gates.report import CheckReport, GateResult
from atr_datagen.gates.session_gates import facts_used
from atr_datagen.gates.trigger_gates import sides_even
from atr_datagen.plan.conformance import deviations
from atr_datagen.plan.table import read_plan
from atr_datagen.source.compile import Compiled, compile_source, read_sources
from atr_datagen.source.document import Path
from atr_datagen.source.episodes import as_text
from atr_datagen.source.reading import SourceFile
from atr_datagen.validity import judge
from atr_datagen.validity import report as measure
from atr_datagen.validity.verdict import Expected


def check_sources(
    sources: FilePath | Sequence[FilePath],
    seed: int = 0,
    only: Sequence[str] | None = None,
    official: FilePath | None = None,
) -> CheckReport:
    """Compiles the sources and runs the static gates; O1 only when a folder of official episodes is given.

    Raises SourceError when a source does not compile, DataError when there is none.
    """
    return CheckReport(static_gates(read_sources(sources, seed, only), seed, official))


def static_gates(
    compiled: Sequence[Compiled], seed: int, official: FilePath | None, expected: Expected | None = None
) -> list[GateResult]:
    """`expected` is what the faces lead to expect of in-sample measures, where it is known."""
    gates = [
        *face_gates(compiled, seed),
        *_source_gates(compiled),
        *_episode_gates(compiled, expected),
        _deterministic(compiled, seed),
        uniform_draw(compiled),
    ]
    if official is not None:
        corpus = Corpus.of(load_episode(path) for path in episode_files(official).values())
        faces = [faced for c in compiled for faced in on_each_face(c, seed)]
        gates.append(per_episode("O1 overlap", faces, lambda episode: overlap(episode, corpus)))
    return gates


def _source_gates(compiled: Sequence[Compiled]) -> list[GateResult]:
    learning = [(c, session) for c in compiled for session in c.learning]
    return [
        gate("bounds", ((c, out_of_bounds(c)) for c in compiled)),
        _planned(compiled),
        gate("S5 facts used", ((c, facts_used(session)) for c, session in learning)),
        gate("half inside", ((c, sides_even(c)) for c in compiled)),
    ]


def _episode_gates(compiled: Sequence[Compiled], expected: Expected | None) -> list[GateResult]:
    episodes = [Episode.model_validate(c.episode) for c in compiled]
    all_cases = on_episodes.cases(episodes)
    return [
        per_episode("structure", compiled, on_episodes.structure),
        _openings(compiled, episodes),
        gate("leak confirm tool", ((c, owned(c, found)) for c, found in _confirmation(compiled, all_cases))),
        _validity(episodes, expected),
    ]


def _openings(compiled: Sequence[Compiled], episodes: Sequence[Episode]) -> GateResult:
    sessions: list[tuple[Compiled, LearningSession]] = [
        (c, session) for c, e in zip(compiled, episodes, strict=True) for session in e.learning_sessions
    ]
    return gate("leak opening", ((c, owned(c, on_episodes.opening_reveals_fact(s))) for c, s in sessions))


def _confirmation(
    compiled: Sequence[Compiled], cases: Sequence[on_episodes.Case]
) -> Iterator[tuple[Compiled, list[tuple[str, str]]]]:
    if compiled:
        yield compiled[0], list(on_episodes.confirmation_listed_evenly(cases))


def _validity(episodes: Sequence[Episode], expected: Expected | None) -> GateResult:
    """The measures over all episodes that make sense for as many personas."""
    verdicts = judge(measure(episodes), expected)
    judged = [verdict for verdict in verdicts if verdict.ok is not None]
    failures = tuple(f"dataset: {verdict}" for verdict in judged if not verdict.ok)
    skipped = len(verdicts) - len(judged)
    note = f"{skipped} bounds not judged for {len(episodes)} personas" if skipped else None
    return GateResult("validity", len(judged) - len(failures), len(judged), failures, note)


def _planned(compiled: Sequence[Compiled]) -> GateResult:
    """S4 for the personas of `plan.csv` beside the folder of sources; without one, nothing is looked at."""
    folders = {FilePath(c.document.file).resolve().parent.parent for c in compiled}
    files = [folder / "plan.csv" for folder in sorted(folders)]
    plans = {file.parent: read_plan(file) for file in files if file.exists()}

    def looked_at() -> Iterator[tuple[Compiled, list[tuple[Path, str]]]]:
        for c in compiled:
            plan = plans.get(FilePath(c.document.file).resolve().parent.parent)
            persona = plan.persona(c.source.persona.id) if plan else None
            if persona is not None:
                yield c, list(deviations(c.source, persona))

    return gate("S4 plan", looked_at())


def _deterministic(compiled: Sequence[Compiled], seed: int) -> GateResult:
    def check(c: Compiled) -> Iterator[tuple[Path, str]]:
        text = as_text(c.episode)
        if as_text(compile_source(SourceFile.read(FilePath(c.document.file)), seed).episode) != text:
            yield (), "compiles to other bytes the second time"
        data = json.loads(text)
        loaded = Episode.model_validate(data).model_dump(mode="json")
        yield from (((), f"{key} is not read back as written") for key in changed(data, loaded))
        yield from (((), f"{key} is not read by the loader") for key in unknown_fields(Episode, data))

    return gate("E5 deterministic", ((c, check(c)) for c in compiled))


def changed(written: Any, loaded: Any, key: str = "") -> Iterator[str]:
    """The keys of a file whose value the loader does not give back. Keys unknown to it are left out."""
    if isinstance(written, dict) and isinstance(loaded, dict):
        fields, read = cast(dict[str, Any], written), cast(dict[str, Any], loaded)
        for name in fields.keys() & read.keys():
            yield from changed(fields[name], read[name], f"{key}.{name}".lstrip("."))
    elif isinstance(written, list) and isinstance(loaded, list):
        before, after = cast(list[Any], written), cast(list[Any], loaded)
        if len(before) != len(after):
            yield key
        for index, (a, b) in enumerate(zip(before, after, strict=False)):
            yield from changed(a, b, f"{key}[{index}]")
    elif written != loaded:
        yield key
