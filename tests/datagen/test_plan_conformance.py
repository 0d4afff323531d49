"""S4: sources hold what the plan asks for, and the skeleton of a new one starts out that way."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from atr_datagen.gates.one_rule import check_rule
from atr_datagen.gates.static_gates import check_sources
from atr_datagen.plan.conformance import deviations
from atr_datagen.plan.given import planned_rule, planned_session
from atr_datagen.plan.model import Plan, PlannedPersona, PlannedRule, PlannedSession, Pull
from atr_datagen.plan.table import plan_text
from atr_datagen.source.grammar import Source
from atr_datagen.source.reading import SourceFile
from tests.support.sources import SOURCE, edited, named

SKETCH = "52, bell founder, Lindsborg KS"


@pytest.fixture(scope="module")
def source() -> Source:
    return SourceFile.read(SOURCE).source


@pytest.fixture(scope="module")
def planned(source: Source) -> PlannedPersona:
    """The small persona as if it had been planned so."""
    rules = [planned_rule(source, index) for index in range(len(source.rules))]
    learning = [planned_session(source, index) for index in range(len(source.learning))]
    return PlannedPersona(source.persona.id, SKETCH, rules, learning)


def test_a_source_keeps_the_plan_that_it_was_written_to(source: Source, planned: PlannedPersona) -> None:
    assert list(deviations(source, planned)) == []
    table, mail = planned.rules[0], planned.rules[3]
    assert (table.faces, table.candidates, table.limits) == (3, 5, ("2",))
    assert table.pulls == (Pull("rating", "high", (4, 5, 3)),)
    assert (mail.slot, mail.choices) == ("draft_message send_message", ("draft_message", "send_message"))


def rule(index: int, **fields: object) -> Callable[[PlannedPersona], PlannedPersona]:
    def change(persona: PlannedPersona) -> PlannedPersona:
        rules: list[PlannedRule] = list(persona.rules)
        rules[index] = replace(rules[index], **fields)
        return replace(persona, rules=rules)

    return change


def session(index: int, **fields: object) -> Callable[[PlannedPersona], PlannedPersona]:
    def change(persona: PlannedPersona) -> PlannedPersona:
        sessions: list[PlannedSession] = list(persona.learning)
        sessions[index] = replace(sessions[index], **fields)
        return replace(persona, learning=sessions)

    return change


@pytest.mark.parametrize(
    ("change", "where", "reason"),
    [
        (rule(2, faces=2), ("rules", 2), "faces is 3; the plan says 2"),
        (
            rule(0, slot="book_hotel.hotel_offer_id"),
            ("rules", 0),
            "decides book_restaurant.restaurant_id; the",
        ),
        (
            rule(3, slot="send_message send_draft"),
            ("rules", 3),
            "decides draft_message send_message; the plan",
        ),
        (rule(0, candidates=6), ("rules", 0), "candidates is 5; the plan says 6"),
        (rule(0, limits=("1",)), ("rules", 0), "limits is ('2',); the plan says ('1',)"),
        (rule(1, sibling=2), ("rules", 1), "sibling is 4; the plan says 2"),
        (rule(1, pinned=False), ("rules", 1), "pinned is True; the plan says False"),
        (
            rule(0, pulls=(Pull("rating", "high", (2, 5, 3)),)),
            ("rules", 0),
            "the ranks of the faces' golds are rating high 4/5/3; the plan says rating high 2/5/3",
        ),
        (rule(0, pair="x"), ("rules", 0), "should be of a scope pair on book_restaurant"),
        (session(0, role="near"), ("learning", 0), "role is 'direct'; the plan says 'near'"),
        (session(0, family="reservation.x"), ("learning", 0), "the plan says 'reservation.x'"),
        (session(0, rule=1), ("learning", 0), "belongs to rule 2; the plan says 1"),
        (session(1, rule=3), ("learning", 1), "belongs to rule None; the plan says 3"),
        (session(0, trigger="inside"), ("learning", 0), "where is left out; the plan says inside"),
        (
            session(0, drawn={"return_order.resolution_type": "store_credit"}),
            ("learning", 0),
            "return_order.resolution_type is refund; the plan drew store_credit",
        ),
        (
            lambda persona: replace(persona, rules=persona.rules[1:]),
            ("rules",),
            "has 5 rules; the plan has 4",
        ),
        (
            lambda persona: replace(persona, learning=persona.learning[:-1]),
            ("learning",),
            "has 4 sessions; the plan has 3",
        ),
    ],
)
def test_a_source_that_leaves_the_plan_is_named_with_the_place(
    source: Source,
    planned: PlannedPersona,
    change: Callable[[PlannedPersona], PlannedPersona],
    where: tuple[str | int, ...],
    reason: str,
) -> None:
    found = [text for path, text in deviations(source, change(planned)) if path == where]
    assert any(reason in text for text in found), found


def test_enum_values_of_faces_and_of_slots_without_a_rule_are_only_suggestions(
    source: Source, planned: PlannedPersona
) -> None:
    other = session(1, drawn={"track_reservation_updates.update_scope": "critical"})(planned)
    assert list(deviations(source, other)) == []
    other = rule(2, choices=("exchange", "refund", "x"), blind="x")(planned)
    assert list(deviations(source, other)) == []


def test_inside_its_trigger_a_session_may_take_any_value_that_is_no_face(
    source: Source, planned: PlannedPersona
) -> None:
    drawn = {"return_order.resolution_type": "store_credit"}
    found = [text for _, text in deviations(source, session(0, trigger="inside", drawn=drawn)(planned))]
    assert found == ["where is left out; the plan says inside"]


def test_check_compares_with_the_plan_beside_the_sources(tmp_path: Path, planned: PlannedPersona) -> None:
    (tmp_path / "sources").mkdir()
    shutil.copy(SOURCE, tmp_path / "sources")
    plan = Plan(0, [rule(0, limits=("3",))(planned)], [])
    (tmp_path / "plan.csv").write_text(plan_text(plan), encoding="utf-8")
    gate = named(check_sources(tmp_path / "sources"), "S4 plan")
    assert (gate.passed, gate.total) == (0, 1)
    assert "pavla_ondrus.yaml" in gate.failures[0] and "rules[quiet_bench]" in gate.failures[0]


async def test_one_rule_is_held_to_its_line_of_the_plan(tmp_path: Path, planned: PlannedPersona) -> None:
    (tmp_path / "sources").mkdir()
    path = edited(tmp_path / "sources", ("value: exchange", "value: TO WRITE"))
    plan = Plan(0, [rule(0, limits=("3",))(planned)], [])
    (tmp_path / "plan.csv").write_text(plan_text(plan), encoding="utf-8")
    (failure,) = named(await check_rule(path, "quiet_bench"), "S4 plan").failures
    assert "rules[quiet_bench]: limits is ('2',); the plan says ('3',)" in failure
    assert named(await check_rule(path, "first_look"), "S4 plan").ok
    assert named(await check_rule(path, "pen_first"), "S4 plan").ok
