"""How gates are run: over the things of a kind, with every failure put where it stands in the source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from atr_data.episode import Episode
from atr_datagen.gates.report import GateResult
from atr_datagen.source.compile import Compiled
from atr_datagen.source.document import Path, Problem

OwnedFailures = Iterator[tuple[str, str]]
"""The id of the rule or session that fails, and why."""


def owner_path(compiled: Compiled, owner: str) -> Path:
    """Where in the source a rule, a test or a learning session stands, by its id."""
    places: dict[str, Path] = {session.session_id: session.path for session in compiled.learning}
    for test in compiled.tests:
        places[test.rule_id] = test.path[:-1]
        places[f"{test.rule_id}_test"] = test.path
    return places.get(owner, ())


def gate(name: str, looked_at: Iterable[tuple[Compiled, Iterable[tuple[Path, str]]]]) -> GateResult:
    """A gate from what it found per thing looked at."""
    total, passed, failures = 0, 0, list[Problem]()
    for compiled, found in looked_at:
        problems = [compiled.document.problem(path, reason) for path, reason in found]
        total, passed = total + 1, passed + (not problems)
        failures += problems
    return GateResult(name, passed, total, tuple(map(str, dict.fromkeys(failures))))


def owned(compiled: Compiled, found: Iterable[tuple[str, str]]) -> list[tuple[Path, str]]:
    return [(owner_path(compiled, owner), reason) for owner, reason in found]


def per_episode(
    name: str, compiled: Iterable[Compiled], check: Callable[[Episode], OwnedFailures]
) -> GateResult:
    return gate(name, ((c, owned(c, check(Episode.model_validate(c.episode)))) for c in compiled))
