"""S4: sources hold what the plan asks for, and the skeleton of a new one starts out that way."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from atr_datagen.gates.static_gates import check_sources
from atr_datagen.plan.conformance import deviations
from atr_datagen.plan.model import PlannedPersona, PlannedRule, PlannedSession, Pull
from atr_datagen.plan.table import read_plan
from atr_datagen.source.grammar import Source, SourceFile
from tests.conftest import ROOT
from tests.support.sources import SOURCE, named

FIRST = ROOT / "data" / "sources" / "odalys_renner.yaml"


@pytest.fixture(scope="module")
def source() -> Source:
    return SourceFile.read(FIRST).source


@pytest.fixture(scope="module")
def planned() -> PlannedPersona:
    persona = read_plan(ROOT / "data" / "plan.csv").persona("odalys_renner")
    assert persona is not None
    return persona


def test_the_given_persona_is_what_the_plan_says(source: Source, planned: PlannedPersona) -> None:
    assert list(deviations(source, planned)) == []


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
        (rule(1, gold="refund"), ("rules", 1), "gold is 'store_credit'; the plan says 'refund'"),
        (rule(1, blind="exchange"), ("rules", 1), "blind is 'refund'; the plan says 'exchange'"),
        (rule(0, slot="pause_subscription.subscription_id"), ("rules", 0), "slot is 'cancel_subscription"),
        (rule(0, candidates=4), ("rules", 0), "candidates is 6; the plan says 4"),
        (rule(3, sibling=2), ("rules", 3), "sibling is None; the plan says 2"),
        (rule(0, mirrored=True), ("rules", 0), "mirrored is False; the plan says True"),
        (
            rule(0, pulls=(Pull("price_per_period", "high", 2), Pull("days_since_used", "high", 4))),
            ("rules", 0),
            "ranks are price_per_period high 3 of 6, days_since_used high 4 of 6; the plan says price_per",
        ),
        (rule(5, pair=""), ("rules", 5), "is no scope pair in the plan"),
        (rule(0, pair="x"), ("rules", 0), "should be of a scope pair on cancel_subscription"),
        (session(0, role="near"), ("learning", 0), "role is 'direct'; the plan says 'near'"),
        (session(0, family="reservation.x"), ("learning", 0), "the plan says 'reservation.x'"),
        (session(0, rule=2), ("learning", 0), "belongs to rule 3; the plan says 2"),
        (
            session(4, drawn={"return_order.resolution_type": "store_credit"}),
            ("learning", 4),
            "return_order.resolution_type is exchange; the plan drew store_credit",
        ),
        (
            lambda persona: replace(persona, rules=persona.rules[1:]),
            ("rules",),
            "has 14 rules; the plan has 13",
        ),
        (
            lambda persona: replace(persona, learning=persona.learning[:-1]),
            ("learning",),
            "has 28 sessions; the plan has 27",
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


def test_values_drawn_for_slots_without_a_rule_are_only_suggestions(
    source: Source, planned: PlannedPersona
) -> None:
    other = session(3, drawn={"book_flight.seat_preference": "middle"}, path=("search_flights",))(planned)
    assert list(deviations(source, other)) == []


def test_check_compares_with_the_plan_beside_the_sources(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    for file in (FIRST, SOURCE):
        shutil.copy(file, tmp_path / "sources")
    text = (ROOT / "data" / "plan.csv").read_text(encoding="utf-8")
    (tmp_path / "plan.csv").write_text(text.replace(",store_credit,", ",refund,", 1), encoding="utf-8")
    gate = named(check_sources(tmp_path / "sources"), "S4 plan")
    assert (gate.passed, gate.total) == (0, 1)
    assert "odalys_renner.yaml" in gate.failures[0] and "rules[leave_it_with_maker]" in gate.failures[0]
