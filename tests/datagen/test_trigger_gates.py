"""Inside the trigger of its rule a learning session shows no face; half of the direct sessions are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from atr_datagen.gates.static_gates import check_sources
from atr_datagen.source.compile import read_sources
from atr_datagen.source.document import SourceError
from tests.support.sources import edited, named

MONEY = "- {for: keep_money_near, role: direct, family"
PEN = "- {for: pen_first, role: direct, family"
HAIR = "- {for: reservation, role: near, family: reservation.watch"
INSIDE = (MONEY, MONEY.replace("family", "where: inside, family"))
PEN_INSIDE = (PEN, PEN.replace("family", "where: inside, family"))
PEN_OUTSIDE = (PEN, PEN.replace("family", "where: outside, family"))
NO_VALUE = (
    ("order_id=order, resolution_type)", "order_id=order)"),
    ("resolution_type: refund, order:", "return_it: yes, order:"),
)
TABLE = """\
- {for: quiet_bench, role: direct, where: inside, family: reservation.table, day: 2, open: OPEN,
   know: {location: Salina, date_time: 2027-01-12T18:00, party_size: 4, name: Elm Room},
   all: {location: Salina}, restaurant: [key, name, rating, COLUMN],
   rows: [[elm, Elm Room, 4.4, CELL], [oak, Oak Room, 4.0, none]],
   steps: ["search_restaurants(location)", "book_restaurant(restaurant_id=#elm, date_time, party_size)"]}
"""
CONFIRM = """\
- {for: first_look, role: direct, where: inside, family: scheduling.remind, day: 2, open: A drill is near,
   know: {calendar: work, start_time: 2027-01-20T08:00, cadence: weekly},
   all: {calendar: work}, calendar_event: [key, title, start_time, end_time],
   rows: [[drill, Fire drill, 2027-01-20T08:00, 2027-01-20T09:00],
          [mold, Mold talk, 2027-01-20T10:00, 2027-01-20T11:00]],
   steps: ["list_events(calendar)", "CALL"]}
"""
DRAFT = """\
- {for: pen_first, role: near, where: SIDE, family: communication.pen, day: 2, open: Somebody is cross,
   know: {sender: toys@carillon.example, draft_it: yes, body_points: [it can be filed, come in May]},
   message: [key, sender, subject, thread_id],
   rows: [[toy, toys@carillon.example, Edge, t_edge], [van, van@library.example, Stops, t_stops]],
   steps: ["search_messages(sender)", "draft_message(thread_id=#t_edge, body=*body_points)"]}
"""


def table(opening: str, column: str, cell: str) -> str:
    return TABLE.replace("OPEN", opening).replace("COLUMN", column).replace("CELL", cell)


def before_hair(session: str) -> tuple[str, str]:
    return HAIR, session + HAIR


SHOWN: list[tuple[str, list[tuple[str, str]], str]] = [
    ("enum value", [INSIDE], "learning[0].steps[1]: sets resolution_type to refund, which is face money"),
    (
        "enum fact",
        [INSIDE, NO_VALUE[0]],
        "learning[0].know.resolution_type: tells refund, which is face money",
    ),
    (
        "enum opening",
        [INSIDE, *NO_VALUE, ("open: Something I bought has to go back", "open: Exchange something")],
        "learning[0].open: says 'exchange', which is face sound_one",
    ),
    (
        "object",
        [before_hair(table("Find us somewhere to eat", "sound", "jukebox by the door"))],
        "learning[1].steps[1]: chooses elm, whose sound is what face chosen goes by",
    ),
    (
        "object told",
        [before_hair(table("Somewhere with a jukebox", "view", "river"))],
        "learning[1].open: says 'jukebox', which face chosen goes by",
    ),
    (
        "tool",
        [PEN_INSIDE],
        "learning[3]: of the sessions for pen_first, inside its trigger, draft_message (face overnight) in 0",
    ),
    (
        "confirm, the call",
        [before_hair(CONFIRM.replace("CALL", "set_reminder(target_id=#drill, cadence)"))],
        "learning[1].steps[1]: calls set_reminder, which shows or breaks the rule inside its trigger",
    ),
    (
        "confirm, the question",
        [before_hair(CONFIRM.replace("CALL", "get_user_confirmation(target_tool=set_reminder)"))],
        "learning[1].steps[1]: asks about set_reminder, which shows or breaks the rule",
    ),
]


@pytest.mark.parametrize(("changes", "reason"), [case[1:] for case in SHOWN], ids=[case[0] for case in SHOWN])
def test_a_session_that_shows_a_face_inside_the_trigger_is_named(
    tmp_path: Path, changes: list[tuple[str, str]], reason: str
) -> None:
    gate = named(check_sources(edited(tmp_path, *changes)), "S6 no face inside")
    assert not gate.ok and any(reason in failure for failure in gate.failures), gate.failures


NEUTRAL: list[tuple[str, list[tuple[str, str]]]] = [
    ("enum left out", [INSIDE, *NO_VALUE]),
    ("object without it", [before_hair(table("Find us somewhere to eat", "view", "river"))]),
    ("each tool once", [PEN_INSIDE, before_hair(DRAFT.replace("SIDE", "inside"))]),
    (
        "confirm without the call",
        [before_hair(CONFIRM.replace("CALL", "track_event_updates(target_id=#drill)"))],
    ),
    ("outside", [PEN_OUTSIDE, (MONEY, MONEY.replace("family", "where: outside, family"))]),
]


@pytest.mark.parametrize("changes", [case[1] for case in NEUTRAL], ids=[case[0] for case in NEUTRAL])
def test_a_session_with_nothing_to_choose_passes(tmp_path: Path, changes: list[tuple[str, str]]) -> None:
    gate = named(check_sources(edited(tmp_path, *changes)), "S6 no face inside")
    assert gate.failures == ()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            [INSIDE, PEN_INSIDE],
            "learning: has 2 direct sessions inside the trigger and 0 outside; should be half of each",
        ),
        (
            [INSIDE, PEN_OUTSIDE, before_hair(DRAFT.replace("SIDE", "inside"))],
            "learning[1].where: should be outside, as in the direct session of the rule",
        ),
    ],
)
def test_half_of_the_sessions_are_inside_and_those_of_a_rule_on_one_side(
    tmp_path: Path, changes: list[tuple[str, str]], reason: str
) -> None:
    gate = named(check_sources(edited(tmp_path, *changes)), "half inside")
    assert any(reason in failure for failure in gate.failures), gate.failures
    even = named(check_sources(edited(tmp_path, INSIDE, PEN_OUTSIDE)), "half inside")
    assert even.ok


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            (MONEY, MONEY.replace("family", "where: within, family")),
            "should be 'inside' or 'outside'; is 'wi",
        ),
        ((HAIR, HAIR.replace("family", "where: inside, family")), "where: does not belong to a session that"),
        ((HAIR, HAIR.replace("for: reservation", "for: quiet_bench")), "or the tool_identity rule of which"),
        (
            (HAIR, HAIR.replace("for: reservation", "for: nobody")),
            "for: should be the domain 'reservation' for",
        ),
        (
            (HAIR, HAIR.replace("for: reservation", "for: pen_first")),
            "family: should start with communication",
        ),
    ],
)
def test_a_side_or_rule_that_fits_no_session_is_refused(
    tmp_path: Path, changes: tuple[str, str], reason: str
) -> None:
    with pytest.raises(SourceError) as error:
        read_sources(edited(tmp_path, changes))
    assert reason in str(error.value)
