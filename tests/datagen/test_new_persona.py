"""The skeleton of a persona source."""

from __future__ import annotations

from pathlib import Path

import pytest

from atr_data import DataError
from atr_datagen.plan.conformance import deviations
from atr_datagen.plan.model import Plan
from atr_datagen.plan.table import read_plan
from atr_datagen.source.grammar import SourceFile
from atr_datagen.source.scaffold import scaffold
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def plan() -> Plan:
    return read_plan(ROOT / "data" / "plan.csv")


def test_every_skeleton_reads_as_a_source_that_binds_what_the_plan_says(plan: Plan, tmp_path: Path) -> None:
    for persona in plan.personas:
        path = tmp_path / f"{persona.id}.yaml"
        path.write_text(scaffold(plan, persona.id), encoding="utf-8")
        source = SourceFile.read(path).source
        assert source.persona.id == persona.id
        assert [rule.bind for rule in source.rules] == [rule.slot for rule in persona.rules]
        assert [s.family for s in source.learning] == [s.family for s in persona.learning]
        left = {reason.split()[0] for _, reason in deviations(source, persona)}
        written_by_hand = {"candidates", "the", "pinned", "mirrored", *(s.slot for s in persona.rules)}
        assert left <= written_by_hand


def test_comments_say_what_is_left_to_write(plan: Plan) -> None:
    text = scaffold(plan, "ferran_oduya")
    assert "# gold is 3 of 6 on price (low draws); every pull row is ahead of it" in text
    assert "# scope pair with rule_01: same slot, another trigger, another gold" in text
    assert "# gold cancel_service_appointment, and not modify_service_appointment" in text
    assert "# trigger: time" in text and "# with a mirror" in text
    assert "# the other tool of rule_11" in text


def test_a_persona_outside_the_plan_is_refused_with_the_nearest(plan: Plan) -> None:
    with pytest.raises(DataError, match="no persona 'feran_oduya'; did you mean 'ferran_oduya'"):
        scaffold(plan, "feran_oduya")
