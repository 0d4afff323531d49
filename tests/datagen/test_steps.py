"""The small language of a learning session's steps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_datagen.source.steps import parse_step, resolve_step, split_top
from atr_ontology import load_ontology

KNOW: dict[str, Any] = {
    "location": "Ames",
    "guest_count": 2,
    "seats": 3,
    "title": "Supper",
    "new_place": "Barn",
    "people": ["a@x.example"],
    "who": "#one",
    "body_points": ["hello", "goodbye"],
}
IDS = {"one": "evt_00001", "two": "evt_00002", "msg": "msg_00001"}


def call(text: str, number: int = 3) -> dict[str, Any]:
    step = parse_step(text)
    tool = load_ontology().tool(step.tool)
    assert tool is not None
    return resolve_step(step, number, tool, KNOW, IDS).gold.arguments


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("list_trackers()", {}),
        (
            "search_hotels(location, guest_count, room_count=1)",
            {"location": "Ames", "guest_count": 2, "room_count": 1},
        ),
        ("cancel_event(event_id=#one)", {"event_id": "evt_00001"}),
        ("cancel_event(event_id=who)", {"event_id": "evt_00001"}),
        ("track_trip_updates(booking_id=<2.booking_id>)", {"booking_id": "<result 2.booking_id>"}),
        ("delete_files(file_ids=[#one, <1.id>, x])", {"file_ids": ["evt_00001", "<result 1.id>", "x"]}),
        (
            "send_message(recipient=a@x.example, body=*body_points)",
            {"recipient": "a@x.example", "body": "<authored from body_points>"},
        ),
        (
            "modify_event(event_id=#two, field=location, new_value=new_place)",
            {"event_id": "evt_00002", "field": "location", "new_value": "Barn"},
        ),
        (
            "modify_restaurant_reservation(reservation_id=#one, field=party_size, new_value=seats)",
            {"reservation_id": "evt_00001", "field": "party_size", "new_value": "3"},
        ),
        (
            "modify_event(event_id=#two, field=title, new_value='title')",
            {"event_id": "evt_00002", "field": "title", "new_value": "title"},
        ),
        (
            "build_shopping_list(items=['nails, long', Anna's jam])",
            {"items": ["nails, long", "Anna's jam"]},
        ),
        ("list_events(participants=people)", {"participants": ["a@x.example"]}),
    ],
)
def test_a_step_means_this_call(text: str, arguments: dict[str, Any]) -> None:
    assert call(text) == arguments


def test_a_step_tells_which_facts_and_objects_it_uses() -> None:
    step = parse_step("modify_event(event_id=who, field=title, new_value=title)")
    tool = load_ontology().tool("modify_event")
    assert tool is not None
    resolved = resolve_step(step, 1, tool, KNOW, IDS)
    assert (resolved.facts, resolved.keys) == ({"who", "title"}, {"one"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("list_trackers", "is no step"),
        ("list trackers()", "is no step"),
        ("search_hotels(location, 3 rooms)", "is no argument"),
        ("search_hotels(location=)", "is no argument"),
        ("search_hotels(location, location=Ames)", "location is given twice"),
        ("delete_files(file_ids=[#one)", r"leaves \[ open"),
        ("send_message(recipient=x, body='hi)", "leaves ' open"),
        ("search_hotels(place=Ames)", "has no parameter 'place'"),
        ("search_hotels(location)", "lacks guest_count, room_count"),
        (
            "search_hotels(location, guest_coun=1)",
            "has no parameter 'guest_coun'; did you mean 'guest_count'",
        ),
        ("search_hotels(location, room_count)", "'room_count' is no fact under know; one of: body_points"),
        ("search_hotels(location, guest_count=many, room_count=1)", "takes a whole number; is 'many'"),
        ("search_products(budget=low)", "takes a number"),
        ("plan_trip(destination=x, include_stopovers=1)", "takes true or false"),
        ("search_products(sort_by=cheapest)", "has no value 'cheapest'; one of: relevance, price_asc"),
        ("cancel_event(event_id=#on)", "#on is no key of this session; did you mean 'one'"),
        ("cancel_event(event_id=[#one])", "takes one value"),
        ("delete_files(file_ids=#one)", "takes a list"),
        ("cancel_event(event_id=<3.event_id>)", "must name a step before this one"),
        ("cancel_event(event_id=<0.event_id>)", "must name a step before this one"),
        ("send_message(recipient=x, body=*title)", "needs a list of points"),
        ("send_message(recipient=x, body=*words)", "is no fact under know"),
        ("send_message(body=x)", "takes at least one of recipient, thread_id"),
        ("track_trip_updates(trip_id=#one, booking_id=#two)", "takes exactly one of trip_id, booking_id"),
        ("search_messages(sender=null)", "has no value"),
    ],
)
def test_a_wrong_step_says_what_would_be_right(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        call(text)


WORDS = st.text(st.sampled_from("abcdefg hij"), min_size=1).map(str.strip).filter(bool)


@given(st.lists(WORDS, max_size=6))
def test_splitting_undoes_joining(parts: list[str]) -> None:
    assert split_top(", ".join(parts)) == parts


@given(st.lists(st.lists(WORDS, max_size=4), max_size=4))
def test_commas_inside_brackets_and_quotes_do_not_split(lists: list[list[str]]) -> None:
    bracketed = [f"x=[{', '.join(parts)}]" for parts in lists]
    quoted = [f'y="{", ".join(parts)}"' for parts in lists]
    assert split_top(", ".join(bracketed + quoted)) == bracketed + quoted


@given(st.text(st.sampled_from("ab_(),=[]<>'\"#*. 12"), max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        parse_step(text)
    except ValueError as error:
        assert str(error)
