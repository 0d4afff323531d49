"""Arguments against the ontology, and what a refusal says."""

from __future__ import annotations

from typing import Any

import pytest

from atr_ontology import load_ontology
from atr_servers import Environment
from tests.support.worlds import ADA, WORLDS


def answer(domain: str, tool: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
    return Environment.build(domain, WORLDS[domain], ADA).call(tool, arguments).content


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        (
            "search_products",
            {"sort_by": "cheapest"},
            'sort_by: expected one of relevance, price_asc, price_desc, rating, got "cheapest"',
        ),
        ("search_products", {"budget": "ten"}, 'budget: expected a number, got "ten"'),
        ("search_products", {"budget": True}, "budget: expected a number, got true"),
        ("search_products", {"categry": "tea"}, 'unknown argument "categry"; did you mean category?'),
        (
            "cancel_order",
            {"order_id": "O1", "zzz": 1},
            'unknown argument "zzz"; cancel_order takes order_id',
        ),
        (
            "place_order",
            {"product_id": "kettle", "quantity": 1.5},
            "quantity: expected a whole number, got 1.5",
        ),
        (
            "place_order",
            {"product_id": "kettle", "quantity": 1e300},
            "quantity: expected a whole number, got 1e+300",
        ),
        ("place_order", {"product_id": None, "quantity": 1}, "product_id: expected text, got null"),
        (
            "compare_products",
            {"product_ids": "kettle"},
            'product_ids: expected a list of texts, got "kettle"',
        ),
        ("compare_products", {"product_ids": ["kettle", 5]}, "product_ids[1]: expected text, got 5"),
        (
            "review_recurring_charges",
            {"focus": None},
            "focus: expected one of price_change, usage, tier, all, got null;"
            " leave it out when it is not wanted",
        ),
        (
            "get_user_confirmation",
            {"target_tool": "x", "target_params": "[1]"},
            'target_params: expected an object, got "[1]"',
        ),
    ],
)
def test_a_refusal_names_the_argument_what_was_expected_and_what_came(
    tool: str, arguments: dict[str, Any], error: str
) -> None:
    assert answer("commerce", tool, arguments) == {"error": error}


def test_a_missing_argument_is_explained() -> None:
    error = answer("commerce", "place_order", {"quantity": 1})["error"]
    assert error.startswith("missing argument product_id: ")
    assert "search_products" in error


def test_several_problems_are_told_at_once_but_not_all() -> None:
    error = answer("commerce", "compare_products", {"a": 1, "b": 2, "c": 3, "d": 4})["error"]
    assert error.count("unknown argument") == 3


def test_a_tool_without_parameters_says_so() -> None:
    error = answer("communication", "list_labels", {"name": "x"})["error"]
    assert error == 'unknown argument "name"; list_labels takes no arguments'


def test_a_long_value_is_cut_in_the_message() -> None:
    error = answer("commerce", "search_products", {"budget": "9" * 10_000})["error"]
    assert len(error) < 120


@pytest.mark.parametrize("arguments", [None, {}, {"category": None, "budget": None, "sort_by": None}])
def test_null_for_an_optional_argument_is_the_same_as_none(arguments: dict[str, Any] | None) -> None:
    assert answer("commerce", "search_products", arguments)["count"] == 3


NO_FILTER = [
    (domain.name, tool.name, parameter.name)
    for domain in load_ontology().domains.values()
    for tool in domain.tools
    for parameter in tool.parameters
    if parameter.empty == "omit"
]


@pytest.mark.parametrize(("domain", "tool", "parameter"), NO_FILTER)
def test_an_empty_filter_or_order_is_the_same_as_none(domain: str, tool: str, parameter: str) -> None:
    texts = {"origin": "", "destination": "", "location": "", "service_type": ""}
    counts = {"passenger_count": 1, "guest_count": 1, "room_count": 1}
    declared = load_ontology().tool(tool)
    assert declared
    given = {p.name: {**texts, **counts}[p.name] for p in declared.parameters if p.required}
    without = answer(domain, tool, given)
    assert without["count"] > 0
    assert answer(domain, tool, {**given, parameter: ""}) == without


@pytest.mark.parametrize(
    ("domain", "tool", "arguments"),
    [
        ("commerce", "track_order", {"order_id": "O1", "update_scope": ""}),
        ("commerce", "return_order", {"order_id": "O1", "resolution_type": ""}),
        ("commerce", "review_recurring_charges", {"focus": ""}),
        ("communication", "send_message", {"body": "x", "recipient": "a", "language": ""}),
        ("commerce", "search_products", {"sort_by": " "}),
    ],
)
def test_an_empty_choice_that_decides_something_is_refused(
    domain: str, tool: str, arguments: dict[str, Any]
) -> None:
    assert "expected one of" in answer(domain, tool, arguments)["error"]


@pytest.mark.parametrize(
    ("given", "echoed"),
    [
        ({"order_id": "O1"}, {"order_id": "O1"}),
        ('{"order_id": "O1"}', '{"order_id": "O1"}'),
        (' {"a": [1, {}]} ', ' {"a": [1, {}]} '),
        ("{}", "{}"),
        ({}, {}),
        ("", {}),
        (None, {}),
    ],
)
def test_the_announced_parameters_may_be_json_text_and_are_echoed_as_they_came(
    given: object, echoed: object
) -> None:
    said = {"target_tool": "cancel_order", "target_params": given}
    assert answer("commerce", "get_user_confirmation", said)["target_params"] == echoed


@pytest.mark.parametrize(
    "given", ["text", "5", "null", "{", '{"a": NaN}', " ", "[" * 100_000, '{"a":' * 40 + "1" + "}" * 40]
)
def test_a_text_that_holds_no_usable_object_is_refused(given: str) -> None:
    said = {"target_tool": "cancel_order", "target_params": given}
    assert "target_params: expected an object" in answer("commerce", "get_user_confirmation", said)["error"]


def test_a_null_scope_is_echoed_where_the_ontology_says_so() -> None:
    given = {"reservation_id": "R1", "update_scope": None}
    assert answer("reservation", "track_reservation_updates", given)["scope"] is None
    assert answer("reservation", "track_reservation_updates", {"reservation_id": "R1"})["scope"] == "critical"


def test_a_whole_float_counts_as_the_integer() -> None:
    assert (
        repr(answer("commerce", "place_order", {"product_id": "kettle", "quantity": 2.0})["quantity"]) == "2"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        (
            "track_trip_updates",
            {"trip_id": "T1", "booking_id": "B"},
            "give exactly one of trip_id, booking_id; got trip_id, booking_id",
        ),
        ("track_trip_updates", {"trip_id": ""}, "give exactly one of trip_id, booking_id; got none of them"),
        ("track_trip_updates", {"trp_id": "T1"}, 'unknown argument "trp_id"; did you mean trip_id?'),
    ],
)
def test_a_guard_names_the_arguments_it_is_about(tool: str, arguments: dict[str, Any], error: str) -> None:
    assert answer("travel", tool, arguments) == {"error": error}


def test_mail_needs_a_recipient_or_a_thread() -> None:
    error = answer("communication", "send_message", {"body": "x", "recipient": ""})["error"]
    assert error == "give at least one of recipient, thread_id"
    assert answer("communication", "send_message", {"body": "", "thread_id": "th1"})["status"] == "sent"


def test_an_argument_of_the_client_is_dropped_and_reported() -> None:
    environment = Environment.build("commerce", WORLDS["commerce"])
    done = environment.call("cancel_order", {"order_id": "O1", "wait_for_previous": True})
    assert (done.is_error, done.dropped_arguments) == (False, ("wait_for_previous",))
    refused = environment.call("cancel_order", {"wait_for_previous": {}})
    assert (refused.is_error, refused.dropped_arguments) == (True, ("wait_for_previous",))
