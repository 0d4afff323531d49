"""Gates on rules and their tests. All that depends on the face is asked of every face."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from atr_data.episode import Episode
from atr_datagen.gates import episode_gates as on_episodes
from atr_datagen.gates.owners import OwnedFailures, gate, owner_path
from atr_datagen.gates.pool_gates import oracle_unique, tags_proven
from atr_datagen.gates.report import GateResult
from atr_datagen.gates.rule_gates import blind_differs, questions_written, sibling_pinned
from atr_datagen.gates.session_gates import rule_not_told
from atr_datagen.gates.trigger_gates import no_face_inside
from atr_datagen.gates.wording_gates import face_betrayed, limits_worded
from atr_datagen.source.compile import Compiled, with_faces
from atr_datagen.source.document import Path

OF_FACE: Mapping[str, frozenset[str]] = {
    "rules": frozenset(
        {"rule_text", "canonical_answer", "counterfactual_default", "evidence", "action_step"}
    ),
    "test_sessions": frozenset({"gold_value", "rule_ref", "labels"}),
    "metadata": frozenset({"faces"}),
}
"""All of an episode that may depend on the faces, apart from its id."""


def on_each_face(compiled: Compiled, seed: int) -> list[Compiled]:
    """Every rule on its first face, then all that have a second one on that, and so on."""
    most = max((len(test.faces) for test in compiled.tests), default=0)
    return [
        with_faces(compiled, {t.rule_id: place for t in compiled.tests if place < len(t.faces)}, seed)
        for place in range(most)
    ]


def face_gates(compiled: Sequence[Compiled], seed: int) -> list[GateResult]:
    """S1 to S4, S6, F2, F4, the question lines, and the leaks of a test under each face.

    S6 also of what learning sessions show inside a rule's trigger.
    """
    tests = [(c, test) for c in compiled for test in c.tests]
    ids = [(c, test) for c, test in tests if test.rule.type == "param_id"]
    learning = [(c, session) for c in compiled for session in c.learning]
    on_faces = [(c, on_each_face(c, seed)) for c in compiled]
    faced = [(c, faces, all_faces[0]) for c, all_faces in on_faces for faces in all_faces]
    cases = [
        (faces, case)
        for _, faces, _ in faced
        for case in on_episodes.cases([Episode.model_validate(faces.episode)])
    ]

    def per_case(name: str, check: Callable[[on_episodes.Case], OwnedFailures], *types: str) -> GateResult:
        picked = [(c, case) for c, case in cases if not types or case.rule.check_type in types]
        return gate(name, ((c, _of_face(c, check(case))) for c, case in picked))

    return [
        gate("S1 oracle", ((c, oracle_unique(test)) for c, test in ids)),
        gate("S2 tags", ((c, tags_proven(test)) for c, test in ids)),
        gate("S3 limits worded", ((c, limits_worded(test)) for c, test in tests)),
        gate("S4 blind", ((c, blind_differs(test)) for c, test in tests)),
        gate("S6 rule not told", ((c, rule_not_told(session, c)) for c, session in learning)),
        gate("S6 no face inside", ((c, no_face_inside(session, c)) for c, session in learning)),
        gate("F2 face not betrayed", ((c, face_betrayed(test)) for c, test in tests)),
        gate("F2 faces alone differ", ((c, _alike(faces, first)) for c, faces, first in faced)),
        gate("F4 sibling pinned", ((c, sibling_pinned(t, c)) for c, t in tests if t.rule.type == "confirm")),
        gate("question lines", ((c, questions_written(t.rule, _index(t.path))) for c, t in tests)),
        per_case("pool size", on_episodes.pool_size, "param_id"),
        per_case("unchecked target", on_episodes.unchecked_target, "param_enum", "tool_identity"),
        per_case("leak enum literal", on_episodes.enum_literal_in_instruction, "param_enum"),
        per_case("leak tool words", on_episodes.tool_words_in_instruction, "tool_identity"),
        per_case("leak id word", on_episodes.id_shares_rule_word, "param_id"),
        per_case("leak rule in facts", on_episodes.rule_in_learning),
    ]


def _index(path: Path) -> int:
    return int(path[1])


def _of_face(compiled: Compiled, found: OwnedFailures) -> Iterator[tuple[Path, str]]:
    """Failures of a rule are put to the face that it shows."""
    places = {test.rule_id: test.faces[compiled.shown[test.rule_id]].path for test in compiled.tests}
    for owner, reason in found:
        yield places.get(owner, owner_path(compiled, owner)), reason


def _alike(faces: Compiled, first: Compiled) -> Iterator[tuple[Path, str]]:
    """F2: what must not know the face is the same under each."""
    shown = faces.shown.keys()
    one, other = without_faces(faces.episode, shown), without_faces(first.episode, shown)
    for key in one:
        if key != "metadata" and one[key] != other[key]:
            yield (), f"{key} depends on the face"


def without_faces(episode: Mapping[str, Any], rule_ids: Sequence[str] | Any) -> dict[str, Any]:
    """The episode, of some of its rules, without all that may depend on their faces."""
    kept = json.loads(json.dumps(episode)) | {"episode_id": ""}
    for block, names in OF_FACE.items():
        parts = kept[block] if isinstance(kept[block], list) else [kept[block]]
        for item in parts:
            for name in names:
                item.pop(name, None)
        if isinstance(kept[block], list):
            kept[block] = [item for item in parts if item["rule_id"] in rule_ids]
    return kept
