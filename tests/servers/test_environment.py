"""From references to tables, the tools offered, and the state as a snapshot."""

from __future__ import annotations

import json
from typing import Any

import pytest
import structlog

from atr_data.episode import Reference
from atr_ontology import DOMAINS
from atr_servers import Environment
from tests.support.worlds import ADA, WORLDS, ref


def tables(domain: str, *references: Any) -> dict[str, Any]:
    return Environment.build(domain, references, ADA).snapshot()["tables"]


def test_attributes_become_fields_with_defaults_and_the_rest_stays() -> None:
    row = tables("commerce", ref("product", "p", price=35, colour="red"))["products"]["p"]
    assert row == {
        "product_id": "p",
        "name": "p",
        "price": 35.0,
        "category": "unknown",
        "rating": None,
        "attributes": {"colour": "red"},
    }
    assert isinstance(row["price"], float)


def test_a_later_reference_replaces_the_row_and_keeps_the_place() -> None:
    rows = tables("commerce", ref("product", "a"), ref("product", "b"), ref("product", "a", name="new"))
    assert [(key, row["name"]) for key, row in rows["products"].items()] == [("a", "new"), ("b", "b")]


def test_a_linking_attribute_makes_a_row_and_the_first_one_stays() -> None:
    first = ref("product", "a", order_id="O", price=2, delivery_status="sent")
    rows = tables("commerce", first, ref("product", "b", order_id="O"), ref("product", "c", order_id=""))
    assert rows["orders"] == {
        "O": {
            "order_id": "O",
            "product_id": "a",
            "quantity": 1,
            "total": 2.0,
            "status": "sent",
            "shipping_address": "Riverton, WY 82501",
            "payment_method": "CARD_ADA_EX",
        }
    }


def test_stops_of_one_trip_are_gathered() -> None:
    trip = tables("travel", *WORLDS["travel"])["trips"]["T1"]
    assert trip["destination"] == "Rome"
    assert trip["selected_stop_ids"] == ["museum", "fountain"]


@pytest.mark.parametrize(
    ("table", "row_id", "fields"),
    [
        ("restaurant_reservations", "R1", {"restaurant_id": "pho", "party_size": 2, "date_time": ""}),
        ("event_bookings", "B1", {"event_id": "gig", "ticket_type": "standard", "ticket_count": 1}),
        ("service_appointments", "A1", {"provider_id": "cut", "service_type": "barber", "date_time": ""}),
    ],
)
def test_bookings_of_the_references_are_there(table: str, row_id: str, fields: dict[str, Any]) -> None:
    row = tables("reservation", *WORLDS["reservation"])[table][row_id]
    wanted = {**fields, "status": "confirmed", "contact_info": "ada_example@mail.example"}
    assert {name: row[name] for name in wanted} == wanted


def test_a_tag_attribute_joins_the_tags_once() -> None:
    rows = tables(
        "reservation",
        ref("event", "a", event_type="jazz"),
        ref("event", "b", event_type="jazz", event_tags=["jazz"]),
        ref("event", "c", event_type=""),
    )["events"]
    assert [row["event_tags"] for row in rows.values()] == [["jazz"], ["jazz"], []]
    assert all(row["attributes"] == {} for row in rows.values())


def test_an_event_is_titled_by_title_then_name_then_id() -> None:
    references = [
        ref("event", "a", title="T", name="N"),
        ref("event", "b", title="", name="N"),
        ref("event", "c"),
    ]
    rows = tables("scheduling", *references)["events"]
    assert [(row["title"], row["attributes"]) for row in rows.values()] == [("T", {}), ("N", {}), ("c", {})]


def test_tracker_entries_are_the_objects_with_an_id() -> None:
    rows = tables("workspace", *WORLDS["workspace"], ref("tracker", "t2", entries="none"))["trackers"]
    assert {key: entry["status"] for key, entry in rows["t1"]["entries"].items()} == {"A": "open", "B": "x"}
    assert rows["t2"]["entries"] == {}


def test_references_that_a_domain_cannot_use_are_skipped_with_a_warning() -> None:
    odd = [{"type": "product"}, {"id": "x"}, {"id": "", "type": "product"}, ref("unicorn", "u")]
    with structlog.testing.capture_logs() as logs:
        rows = tables("commerce", *odd, {"id": "p", "type": "product"})
    assert list(rows["products"]) == ["p"]
    assert [entry["log_level"] for entry in logs] == ["warning"] * 4
    assert logs[-1]["type"] == "unicorn"


@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        (ref("product", "p", price="cheap"), "'p' of type product: attribute 'price' must be a number"),
        (ref("product", "p", name=None), "attribute 'name' must be text, got null"),
        (ref("product", "p", order_id=5), "attribute 'order_id' must be text"),
        (ref("product", "p", size=float("nan")), "must be finite"),
        ({"id": "p", "type": "product", "attributes": [1]}, "must be a JSON object, not a list"),
        ({"id": 5, "type": "product"}, "the id must be text"),
    ],
)
def test_a_reference_that_breaks_its_table_is_refused(reference: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Environment.build("commerce", [reference])


@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        (ref("message", "m", archived=1), "'archived' must be true or false"),
        (ref("message", "m", labels="a"), "'labels' must be a list of texts"),
        (ref("message", "m", labels=[1]), "'labels' must be a list of texts"),
    ],
)
def test_flags_and_lists_are_checked(reference: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Environment.build("communication", [reference])


@pytest.mark.parametrize(
    ("kind", "attributes", "complaint"),
    [
        ("tracker", {"entries": [{"entry_id": 5}]}, "'entry_id' must be text"),
        ("file", {"labels": {}}, "'labels' must be a list of texts"),
    ],
)
def test_workspace_references_are_checked(kind: str, attributes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Environment.build("workspace", [ref(kind, "x", **attributes)])


def test_a_seat_count_must_be_whole() -> None:
    with pytest.raises(ValueError, match="'available_seats' must be a whole number or null, got true"):
        Environment.build("travel", [ref("flight_offer", "f", available_seats=True)])


def test_references_may_be_models_and_are_not_changed_by_calls() -> None:
    reference = Reference(id="m", type="message", attributes={"labels": ["a"], "extra": {"b": 1}})
    before = reference.model_dump_json()
    environment = Environment.build("communication", [reference, ref("label", "l", name="new")])
    assert not environment.call("label_messages", {"message_ids": ["m"], "label_ids": ["l"]}).is_error
    assert reference.model_dump_json() == before


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_snapshot_survives_json_and_brings_the_state_back(domain: str) -> None:
    one = Environment.build(domain, WORLDS[domain], ADA)
    snapshot = json.loads(json.dumps(one.snapshot()))
    assert snapshot == one.snapshot()
    other = Environment.build(domain, [])
    other.restore(snapshot)
    assert other.snapshot() == one.snapshot()


def test_a_snapshot_is_of_its_own() -> None:
    environment = Environment.build("workspace", WORLDS["workspace"])
    before = environment.snapshot()
    for _ in range(2):
        environment.call("classify_files", {"file_ids": ["fi1"], "scheme": "by_type"})
        assert before["tables"]["files"]["fi1"]["labels"] == []
        environment.restore(before)
    before["tables"]["files"].clear()
    assert environment.call("list_files").content["count"] == 2


@pytest.mark.parametrize(
    "snapshot",
    [
        {},
        {"domain": "travel", "tables": {}},
        {"domain": "commerce", "tables": []},
        {"domain": "commerce", "tables": {"products": {}}},
        {
            "domain": "commerce",
            "tables": {"products": [], "subscriptions": {}, "orders": {}, "shopping_lists": {}},
        },
    ],
)
def test_a_snapshot_of_something_else_is_refused(snapshot: dict[str, Any]) -> None:
    environment = Environment.build("commerce", WORLDS["commerce"])
    before = environment.snapshot()
    with pytest.raises(ValueError, match="no snapshot of a commerce environment"):
        environment.restore(snapshot)
    assert environment.snapshot() == before
