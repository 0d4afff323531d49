"""The skeleton of a persona source."""

from __future__ import annotations

from pathlib import Path

import pytest

from atr_data import DataError
from atr_datagen.plan.conformance import deviations
from atr_datagen.plan.model import Plan
from atr_datagen.plan.table import read_plan
from atr_datagen.source.compile import read_sources
from atr_datagen.source.document import SourceError
from atr_datagen.source.reading import SourceFile
from atr_datagen.source.scaffold import scaffold
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def plan() -> Plan:
    return read_plan(ROOT / "data" / "plan.csv")


def told(path: Path) -> list[str]:
    with pytest.raises(SourceError) as caught:
        read_sources(path)
    return str(caught.value).splitlines()


def test_every_skeleton_reads_and_has_what_the_plan_says(plan: Plan, tmp_path: Path) -> None:
    for persona in plan.personas:
        path = tmp_path / f"{persona.id}.yaml"
        path.write_text(scaffold(plan, persona.id), encoding="utf-8")
        file = SourceFile.scan(path)
        assert [p.block.slot for p in file.rules] == [rule.slot for rule in persona.rules]
        assert [len(p.block.faces) for p in file.rules] == [rule.faces for rule in persona.rules]
        assert [p.block.family for p in file.learning] == [s.family for s in persona.learning]
        left = {reason.split()[0] for _, reason in deviations(file.source, persona)}
        drawn = {s.partition(".")[0] for rule in persona.rules for s in [rule.slot]}
        assert {name for name in left if name.partition(".")[0] not in drawn} <= {"the", "limits", "pinned"}


def test_a_skeleton_fails_until_all_of_it_is_written(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "rurik_bellamy.yaml"
    path.write_text(scaffold(plan, "rurik_bellamy"), encoding="utf-8")
    lines = told(path)
    assert any("persona.narrative: is still to be written" in line for line in lines)
    assert any("vocab: is empty" in line for line in lines)
    assert not any("is no key here" in line or "is missing" in line for line in lines), lines


def test_a_skeleton_has_slots_for_faces_rows_arguments_and_questions(plan: Plan) -> None:
    text = scaffold(plan, "ferran_oduya")
    rule = text.partition("- key: rule_01")[2].partition("- key: rule_02")[0]
    assert "product: [tag, key, name, price, rating, review_count, what_decides]" in rule
    assert (rule.count("- [face, "), rule.count("- [pull, "), rule.count("- [limit, ")) == (3, 1, 2)
    assert rule.count("# what_decides as in face ") == 2 and "target: {quantity: TO WRITE" in rule
    assert rule.count("  - key: face_") == 3 and rule.count("    - TO WRITE") == 10
    assert all(f"    {name}: [TO WRITE]" in rule for name in ("decision", "situation", "beside"))


def test_comments_say_what_is_left_to_write(plan: Plan) -> None:
    text = scaffold(plan, "ferran_oduya")
    assert "of 6 on rating (high draws); the pull row is first" in text
    assert "# scope pair with rule_01: same slot, another trigger, the same face keys" in text
    assert "# fixes the same parameters as rule_04, which is outside the trigger" in text
    assert "# another tool of its rule\n" in text and "# inside the trigger of its rule, with nothing" in text
    assert "- {for: rule_03, role: near, where: inside, family: reservation.shift_appointment" in text
    assert "# inside the trigger of its rule, with every face's tool once over its sessions" in text


def test_a_persona_outside_the_plan_is_refused_with_the_nearest(plan: Plan) -> None:
    with pytest.raises(DataError, match="no persona 'feran_oduya'; did you mean 'ferran_oduya'"):
        scaffold(plan, "feran_oduya")
