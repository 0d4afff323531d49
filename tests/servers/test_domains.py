"""What the tools do: worked examples, rules that the recorded sessions do not reach, and the signatures."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from atr_ontology import DOMAINS, Tool, load_ontology
from atr_servers import Environment
from tests.support.worlds import ADA, WORLDS, ref

P1 = ref("product", "p1", price=12, category="tea")
S1 = ref("trip_stop", "s1", trip_id="T1", stop_type="museum")
CALL = ref("event", "e1", title="", name="Call")
HINT = {"count": 0, "results": []}


def call(references: list[dict[str, Any]], domain: str, *calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """The answer of the last call; the earlier ones have to succeed."""
    environment = Environment.build(domain, references, ADA)
    for name, arguments in calls[:-1]:
        assert not environment.call(name, arguments).is_error
    answer = environment.call(*calls[-1])
    assert answer.is_error == ("error" in answer.content)
    return answer.content


@pytest.mark.parametrize(
    ("domain", "references", "calls", "expected"),
    [
        (
            "commerce",
            [P1],
            [("search_products", {"category": "green tea"})],
            {
                "count": 1,
                "results": [
                    {
                        "product_id": "p1",
                        "name": "p1",
                        "price": 12.0,
                        "category": "tea",
                        "rating": None,
                        "attributes": {},
                    }
                ],
            },
        ),
        ("commerce", [], [("search_products", {"budget": 5})], HINT),
        (
            "commerce",
            [ref("product", "prod_long_name_01", price=3.335, order_id="O7")],
            [("place_order", {"product_id": "prod_long_name_01", "quantity": 2})],
            {
                "order_id": "ORD_prod_long__002",
                "product_id": "prod_long_name_01",
                "quantity": 2,
                "total": 6.67,
                "status": "confirmed",
            },
        ),
        (
            "travel",
            [S1],
            [("search_trip_stops", {"stop_tags": ["MUSEUM"]})],
            {
                "count": 1,
                "results": [
                    {
                        "stop_id": "s1",
                        "name": "s1",
                        "location": None,
                        "tags": ["museum"],
                        "attributes": {"trip_id": "T1"},
                    }
                ],
            },
        ),
        (
            "workspace",
            [ref("tracker", "t1", entries=[{"entry_id": "A"}])],
            [("update_tracker", {"tracker_id": "t1", "update_action": "create_entry"})],
            {"tracker_id": "t1", "entry_id": "ENT_002", "action": "created"},
        ),
        (
            "scheduling",
            WORLDS["scheduling"],
            [("track_event_updates", {"target_id": "e1"})],
            {"tracking_id": "TRK_e1", "target": "e1", "scope": "critical", "status": "tracking_enabled"},
        ),
    ],
)
def test_worked_examples_are_answered_to_the_letter(
    domain: str,
    references: list[dict[str, Any]],
    calls: list[tuple[str, dict[str, Any]]],
    expected: dict[str, Any],
) -> None:
    answer = call(references, domain, *calls)
    assert answer == expected
    assert list(answer) == list(expected)


@pytest.mark.parametrize(
    ("domain", "references", "tool", "arguments"),
    [
        ("commerce", [P1], "search_products", {"budget": 5}),
        ("scheduling", [CALL], "list_events", {"calendar": "work"}),
    ],
)
def test_filters_that_leave_nothing_give_a_hint(
    domain: str, references: list[dict[str, Any]], tool: str, arguments: dict[str, Any]
) -> None:
    answer = call(references, domain, (tool, arguments))
    assert answer.pop("hint")
    assert answer == HINT


def test_a_planned_trip_counts_on_from_linked_trips_and_does_not_hold_their_stops() -> None:
    plan = ("plan_trip", {"destination": "Rome"})
    assert call([S1], "travel", plan)["trip_id"] == "TRP_002"
    replan = {"trip_id": "TRP_002", "replanning_goal": "x", "disrupted_item_id": "s1"}
    assert "not on the trip" in call([S1], "travel", plan, ("replan_trip", replan))["error"]


def test_compared_products_stand_in_the_order_asked_for() -> None:
    environment = Environment.build("commerce", WORLDS["commerce"])
    found = environment.call("compare_products", {"product_ids": ["teapot", "no", "teapot"]}).content[
        "comparison"
    ]
    assert [row["product_id"] for row in found] == ["teapot", "no", "teapot"]
    assert found[0]["attributes"] == {"colour": "blue"}
    assert found[1] == {"product_id": "no", "error": "not found"}


@pytest.mark.parametrize(
    ("query", "target", "matches"),
    [
        ("", "tea", True),
        ("tea", "", False),
        ("  TEA ", "green tea", True),
        ("green tea", "TEA", True),
        ("San Francisco", "San Jose, CA", True),
        ("jose_x", "San Jose/CA", True),
        ("a/b", "/", True),
        ("  ", "anything", True),
        ("teapot", "tea-cup", False),
    ],
)
def test_texts_match_loosely(query: str, target: str, matches: bool) -> None:
    answer = call(
        [ref("product", "p", category=target)], "commerce", ("search_products", {"category": query})
    )
    assert bool(answer["count"]) is matches


@pytest.mark.parametrize(
    ("sort_by", "order"),
    [("price_asc", ["c", "a", "b", "d", "e"]), ("price_desc", ["a", "b", "c", "d", "e"])],
)
def test_offers_without_a_price_come_last_and_ties_go_by_id(sort_by: str, order: list[str]) -> None:
    prices = {"e": None, "d": None, "b": 2, "a": 2, "c": 1}
    offers = [ref("flight_offer", i, price=price, origin="x", destination="y") for i, price in prices.items()]
    search = {"origin": "x", "destination": "y", "passenger_count": 1, "sort_by": sort_by}
    found = call(offers, "travel", ("search_flights", search))["results"]
    assert [row["flight_offer_id"] for row in found] == order


def test_a_generated_id_skips_numbers_that_are_taken() -> None:
    event = ref("event", "EVT_002", start_time="2025-01-01", end_time="2025-01-02")
    new = {"title": "x", "start_time": "2025-01-01", "end_time": "2025-01-02"}
    assert call([event], "scheduling", ("create_event", new))["event_id"] == "EVT_003"


def test_a_file_named_twice_is_not_deleted() -> None:
    environment = Environment.build("workspace", WORLDS["workspace"])
    answer = environment.call("delete_files", {"file_ids": ["fi1", "fi1"]})
    assert "twice" in answer.content["error"]
    assert environment.call("delete_files", {"file_ids": ["fi1", "fi2"]}).content == {"deleted": 2}


@pytest.mark.parametrize(
    ("given", "wanted"), [({}, "Riverton, WY 82501"), ({"shipping_address": "Bo"}, "Bo")]
)
def test_identity_arguments_left_out_come_from_the_persona_and_are_not_shown(
    given: dict[str, str], wanted: str
) -> None:
    environment = Environment.build("commerce", [P1], ADA)
    answer = environment.call("place_order", {"product_id": "p1", "quantity": 1, **given})
    assert wanted not in str(answer.content)
    order = environment.snapshot()["tables"]["orders"]["ORD_p1_001"]
    assert (order["shipping_address"], order["payment_method"]) == (wanted, "CARD_ADA_EX")


def test_a_total_beyond_all_numbers_is_refused() -> None:
    assert (
        "quantity"
        in call([P1], "commerce", ("place_order", {"product_id": "p1", "quantity": 10**308}))["error"]
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("track_trip_updates", {"trip_id": "", "booking_id": "FLT_001"}),
        ("replan_trip", {"trip_id": "T1", "replanning_goal": "x", "disrupted_item_id": ""}),
        ("book_flight", {"flight_offer_id": "f1", "seat_preference": ""}),
    ],
)
def test_empty_text_for_an_unused_id_or_choice_is_refused(tool: str, arguments: dict[str, Any]) -> None:
    flight = ("book_flight", {"flight_offer_id": "f1"})
    assert "error" in call(WORLDS["travel"], "travel", flight, (tool, arguments))


def test_an_unknown_id_is_refused_with_its_kind_and_a_way_to_the_right_ones() -> None:
    answer = call(WORLDS["commerce"], "commerce", ("place_order", {"product_id": "mag", "quantity": 1}))
    assert answer["error"] == (
        'no product has the product_id "mag" (it is the id of another kind: subscription).'
        " search_products lists the products."
    )


@pytest.mark.parametrize(
    "moment",
    [
        *("2025-02-30", "2025-03-04T24:00", "2025-03-04T10:60", "0000-01-01", "2025-03-04T10:00:00."),
        *("2025-03-04T10:00.5", "2025-03-04Z", "04.03.2025", "2025-03-04T10:00+25:00", "", "tomorrow"),
    ],
)
def test_text_that_is_no_moment_is_refused(moment: str) -> None:
    arguments = {"target_id": "e1", "remind_at": moment}
    assert "ISO 8601" in call(WORLDS["scheduling"], "scheduling", ("set_reminder", arguments))["error"]


@pytest.mark.parametrize(
    "moment",
    ["2025-03-04", "2025-03-04T10", "2025-03-04 10:30", "2024-02-29T10:30:59.123Z", "2025-03-04T10:30-05:00"],
)
def test_a_moment_is_echoed_trimmed_and_otherwise_as_given(moment: str) -> None:
    arguments = {"target_id": "e1", "remind_at": f" {moment} "}
    answer = call(WORLDS["scheduling"], "scheduling", ("set_reminder", arguments))
    assert answer["remind_at"] == moment


@pytest.mark.parametrize("number", ["", "2.0", "--2", "+2", "two", "٣", "9" * 5000])
def test_text_that_is_no_whole_number_is_refused(number: str) -> None:
    arguments = {"order_id": "O1", "field": "quantity", "new_value": number}
    assert "whole number" in call(WORLDS["commerce"], "commerce", ("modify_order", arguments))["error"]


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_tool_has_one_handler_with_the_parameters_and_defaults_of_the_ontology(domain: str) -> None:
    handlers = Environment.build(domain, []).handlers
    tools = load_ontology().offered(domain)
    assert list(handlers) == [tool.name for tool in tools]
    for tool in tools:
        handler = handlers[tool.name]
        assert inspect.isfunction(handler)
        assert handler.__name__ == tool.name
        state, *keywords = inspect.signature(handler).parameters.values()
        assert state.name == "state"
        assert all(keyword.kind is keyword.KEYWORD_ONLY for keyword in keywords)
        assert [(k.name, k.default) for k in keywords] == _parameters(tool)


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_kind_of_object_has_one_table_and_its_link_the_attribute_of_the_ontology(domain: str) -> None:
    tables = Environment.build(domain, []).state.tables
    loaded = {kind: table for table in tables.values() for kind in table.reference_types}
    objects = load_ontology().objects(domain)
    assert set(loaded) == set(objects)
    assert sum(len(table.reference_types) for table in tables.values()) == len(objects)
    for kind, table in loaded.items():
        assert table.link is None or tables[table.link.table].key == objects[kind].link


def _parameters(tool: Tool) -> list[tuple[str, Any]]:
    return [(p.name, inspect.Parameter.empty if p.required else p.default) for p in tool.parameters]
