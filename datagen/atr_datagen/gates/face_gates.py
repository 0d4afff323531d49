"""Gates on rules and their tests, which both faces of a mirrored rule must pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from atr_data.episode import Episode
from atr_datagen.gates import episode_gates as on_episodes
from atr_datagen.gates import source_gates as on_sources
from atr_datagen.gates.owners import OwnedFailures, gate, owned
from atr_datagen.gates.report import GateResult
from atr_datagen.source.compile import Compiled, show_second_faces
from atr_datagen.source.document import Path
from atr_datagen.source.scenario import TestScenario

SECOND = "2nd face "
"""Starts the names of the gates on second faces."""


def face_gates(
    compiled: Sequence[Compiled],
    tags: Callable[[TestScenario], Iterator[tuple[Path, str]]] = on_sources.tags_proven,
) -> list[GateResult]:
    """S1 to S4 and S6, and the leaks of a test. `tags` is what S2 asks for."""
    tests = [(c, test) for c in compiled for test in c.tests]
    ids = [(c, test) for c, test in tests if test.rule.type == "param_id"]
    learning = [(c, session) for c in compiled for session in c.learning]
    cases = [(c, case) for c in compiled for case in on_episodes.cases([Episode.model_validate(c.episode)])]

    def per_case(name: str, check: Callable[[on_episodes.Case], OwnedFailures], *types: str) -> GateResult:
        picked = [(c, case) for c, case in cases if not types or case.rule.check_type in types]
        return gate(name, ((c, owned(c, check(case))) for c, case in picked))

    return [
        gate("S1 oracle", ((c, on_sources.oracle_unique(test)) for c, test in ids)),
        gate("S2 tags", ((c, tags(test)) for c, test in ids)),
        gate("S3 limits worded", ((c, on_sources.limits_worded(test)) for c, test in tests)),
        gate("S4 blind", ((c, on_sources.blind_differs(test)) for c, test in tests)),
        gate("S6 rule not told", ((c, on_sources.rule_not_told(session, c)) for c, session in learning)),
        per_case("pool minimum", on_episodes.pool_minimum, "param_id"),
        per_case("unchecked target", on_episodes.unchecked_target, "param_enum", "tool_identity"),
        per_case("leak enum literal", on_episodes.enum_literal_in_instruction, "param_enum"),
        per_case("leak tool words", on_episodes.tool_words_in_instruction, "tool_identity"),
        per_case("leak id word", on_episodes.id_shares_rule_word, "param_id"),
        per_case("leak rule in facts", on_episodes.rule_in_learning),
    ]


def second_faces(compiled: Sequence[Compiled], seed: int) -> list[Compiled]:
    """The mirrored rules and their tests, all on their second face, with the learning sessions of their
    personas. A rule whose mirror singles out no gold is left to S1. Raises SourceError."""
    return [_second(c, seed) for c in compiled]


def second_face_gates(faces: Sequence[Compiled]) -> list[GateResult]:
    """What is asked of second faces. Tags follow from the predicates there, and the pool was made for the
    first face, so of S2 there remains that some row tempts; a row that fails one limit is not asked for."""
    return [in_second(found) for found in face_gates(faces, on_sources.tempting)]


def in_second(found: GateResult) -> GateResult:
    return replace(found, gate=f"{SECOND}{found.gate}")


def _second(compiled: Compiled, seed: int) -> Compiled:
    shown = {
        test.rule_id
        for test in compiled.tests
        if test.rule.mirror and not (test.mirror_is and any(on_sources.oracle_unique(test)))
    }
    faced = show_second_faces(compiled, seed, shown)
    episode = {
        **faced.episode,
        "rules": [rule for rule in faced.episode["rules"] if rule["rule_id"] in shown],
        "test_sessions": [test for test in faced.episode["test_sessions"] if test["rule_id"] in shown],
    }
    return replace(faced, tests=[test for test in faced.tests if test.rule_id in shown], episode=episode)
