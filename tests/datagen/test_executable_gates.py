"""The gates that make calls: a sound source passes, and each gate fails on what it is for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atr_data.episode import Episode
from atr_datagen.gates.executable_gates import check_everything, executable_gates, filled
from atr_datagen.gates.report import CheckReport
from atr_datagen.gates.search_gate import search_problems
from tests.support.sources import SOURCE, compiled, edited, failing, named


async def test_a_sound_source_passes_the_static_and_the_executable_gates() -> None:
    report = await check_everything(SOURCE)
    assert failing(report) == []
    totals = {gate.gate[:2]: (gate.passed, gate.total) for gate in report.gates if gate.gate[:1] in "SE"}
    assert totals["E1"] == totals["E3"] == totals["E4"] == (11, 11)
    assert totals["E2"] == (4, 4)
    assert totals["S1"] == totals["E5"] == (1, 1)


FAILING = [
    (
        "E1",
        "2027-03-12T18:30, party_size: 5}",
        "2027-03-12T18:30}",
        "lacks party_size; name what is meant under target",
    ),
    (
        "E1",
        "2027-03-12T18:30, party_size: 5}",
        "soon, party_size: 5}",
        "the gold call fails: book_restaurant(",
    ),
    (
        "E1",
        "target: {target_id: dean, cadence: daily}",
        "target: {target_id: dean, cadence: daily, remind_at: later}",
        "the gold call fails: set_reminder(",
    ),
    ("E1", "Fern and Fiddle, 4.5,", "Fern and Fiddle, tall,", "no environment can be built"),
    ("E2", "sender: wax@comb.example,", "sender: nobody,", "step 1, search_messages("),
    ("E2", "sender: wax@comb.example,", "sender: nobody,", "finds nothing"),
    (
        "E2",
        "<2.appointment_id>",
        "<2.booking_id>",
        "step 2 returns no 'booking_id' but appointment_id, status",
    ),
    ("E2", "return_order(order_id=order,", "return_order(order_id=name,", "step 2, return_order("),
    ("E3", "is in @town on", "comes on", "does not say location, which search_restaurants needs"),
    (
        "E3",
        "thread_id]\n    rows: [[club, harbor@sailing.example, Trouble with the bell, t_club]",
        "thread_id, archived]\n    rows: [[club, harbor@sailing.example, Trouble, t_club, true]",
        "search_messages does not find",
    ),
    (
        "E4",
        "2027-03-12T18:30, party_size: 5}",
        "soon, party_size: 5}",
        "another choice fails, which gives the gold away: book_restaurant(",
    ),
]


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"), FAILING, ids=[f"{f[0]}-{f[3][:35]}" for f in FAILING]
)
async def test_a_gate_fails_and_says_where_and_why(
    tmp_path: Path, name: str, old: str, new: str, reason: str
) -> None:
    changes = [(old, new)]
    if "archived]" in new:
        changes.append(("June order, t_toy]]", "June order, t_toy, false]]"))
    path = edited(tmp_path, *changes)
    gate = named(CheckReport(await executable_gates([compiled(path)])), name)
    assert gate.passed < gate.total
    assert any(reason in failure for failure in gate.failures), gate.failures
    assert all(failure.startswith(f"{path}:") for failure in gate.failures)


async def test_archived_mail_is_found_when_the_instruction_says_where_it_is(tmp_path: Path) -> None:
    path = edited(
        tmp_path,
        (
            "message: [key, sender, subject, thread_id]\n    rows",
            "message: [key, sender, subject, thread_id, archived]\n    rows",
        ),
        ("Trouble with the bell, t_club]", "Trouble with the bell, t_club, true]"),
        ("June order, t_toy]]", "June order, t_toy, false]]"),
        ("The sailing club wrote", "In my archive the sailing club wrote"),
    )
    assert named(CheckReport(await executable_gates([compiled(path)])), "E3").ok


async def test_what_a_choice_goes_by_is_shown_by_the_search(tmp_path: Path) -> None:
    """The body of a message, say, is not; a value that stands in the subject is, whatever its attribute."""
    path = edited(
        tmp_path,
        (
            "message: [key, sender, subject, thread_id]\n    rows",
            "message: [key, sender, subject, thread_id, body, fault]\n    rows",
        ),
        ("Trouble with the bell, t_club]", "Trouble with the bell, t_club, It cracked., trouble]"),
        ("June order, t_toy]]", "June order, t_toy, Ten more., none]]"),
    )
    episode = Episode.model_validate(compiled(path).episode)
    test = next(test for test in episode.test_sessions if test.domain == "communication")
    assert await search_problems(episode, test, ["subject", "fault", "no such attribute"]) == []
    (problem,) = await search_problems(episode, test, ["body"])
    assert problem == "search_messages does not show body, which the choice goes by"


async def test_a_rival_that_needs_an_id_made_earlier_is_not_called(tmp_path: Path) -> None:
    path = edited(tmp_path, ("blind: {face: at_once}", "blind: send_draft"))
    assert named(CheckReport(await executable_gates([compiled(path)])), "E4").ok


def hotel_test(say: str) -> Episode:
    """An episode whose one test is to book a hotel that holds at most two guests a room."""
    data = Episode.model_validate(compiled().episode).model_dump(mode="json")
    hotel: dict[str, Any] = {
        "id": "hot_00001",
        "type": "hotel_offer",
        "attributes": {"name": "Inn", "location": "Ames, IA", "available_rooms": 2, "max_guests_per_room": 2},
    }
    action = {
        "tool": "book_hotel",
        "arguments": {"hotel_offer_id": "hot_00001"},
        "compare_args": ["hotel_offer_id"],
    }
    test = data["test_sessions"][0] | {
        "domain": "travel",
        "instruction": say,
        "labels": {"task_success": {"required_actions": [action]}},
        "local_env": {"tools": ["search_hotels", "book_hotel"], "references": [hotel]},
    }
    return Episode.model_validate({**data, "test_sessions": [test]})


@pytest.mark.parametrize(
    ("say", "problem"),
    [
        ("One room in Ames for two guests, please.", None),
        ("2 rooms in Ames, IA for 4 guests under $90 on 2027-03-12.", None),
        ("A bed in Ames for us, under $90 on 2027-03-12.", "does not say guest_count, room_count"),
        ("Three rooms in Ames for 7 guests.", "search_hotels does not find hot_00001"),
        ("One room in Salina for two guests.", "does not say location"),
    ],
)
async def test_counts_and_places_of_a_search_come_from_the_instruction(say: str, problem: str | None) -> None:
    episode = hotel_test(say)
    found = await search_problems(episode, episode.test_sessions[0])
    assert (not found) if problem is None else problem in found[0]


def test_values_known_only_at_run_time_are_put_in() -> None:
    session = Episode.model_validate(compiled().episode).learning_sessions[2]
    results = [{"booking_id": "FLT_001"}]
    assert filled(["<result 1.booking_id>", "x", 3], session, results) == ["FLT_001", "x", 3]
    assert (
        filled("<authored from entry_points>", session, [])
        == "north gutter leaks; Anna's ladder, the long one"
    )
