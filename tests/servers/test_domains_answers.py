"""Every tool once or more on a small world: what is found, in which order, and what is answered.

The calls of a domain are made one after the other on one environment.
"""

from __future__ import annotations

from typing import Any

import pytest

from atr_ontology import DOMAINS, load_ontology
from atr_servers import Environment
from tests.support.worlds import ADA, WORLDS

Call = tuple[str, dict[str, Any], Any]
TIMES = {"start_time": "2025-03-04T10:30:00", "end_time": "2025-03-04T12:00:00"}

CALLS: dict[str, list[Call]] = {
    "commerce": [
        (
            "get_user_confirmation",
            {"target_tool": "x"},
            {"confirmed": True, "target_tool": "x", "target_params": {}},
        ),
        ("search_products", {"sort_by": "price_desc"}, ["lamp", "kettle", "teapot"]),
        ("search_products", {"sort_by": "price_asc", "budget": 35}, ["teapot", "kettle"]),
        ("search_products", {"sort_by": "rating", "category": "KITCHEN"}, ["kettle", "teapot"]),
        ("search_products", {"budget": 0}, []),
        (
            "place_order",
            {"product_id": "kettle", "quantity": 3},
            {"order_id": "ORD_kettle_003", "total": 105.0},
        ),
        ("modify_order", {"order_id": "O1", "field": "quantity", "new_value": " 2 "}, {"status": "modified"}),
        ("track_order", {"order_id": "O2"}, {"order_id": "O2", "status": "shipped", "update_scope": None}),
        ("return_order", {"order_id": "O2", "resolution_type": "refund"}, {"resolution": "refund"}),
        ("track_order", {"order_id": "O2", "update_scope": "all"}, {"status": "return_requested_refund"}),
        ("return_order", {"order_id": "O1"}, {"status": "return_requested", "resolution": None}),
        ("cancel_order", {"order_id": "O1"}, {"order_id": "O1", "status": "cancelled"}),
        ("build_shopping_list", {"items": ["a", "a"]}, {"list_id": "LIST_001", "item_count": 2}),
        ("review_recurring_charges", {"focus": "price_change"}, ["mag"]),
        ("review_recurring_charges", {"focus": "usage"}, ["gym"]),
        ("review_recurring_charges", {"focus": "tier"}, []),
        ("review_recurring_charges", {}, ["mag", "gym"]),
        (
            "pause_subscription",
            {"subscription_id": "mag", "pause_until": " 2025-05-01 "},
            {"status": "paused"},
        ),
        ("resume_subscription", {"subscription_id": "gym"}, {"status": "active"}),
        ("change_subscription_plan", {"subscription_id": "gym", "new_plan": "pro"}, {"plan": "pro"}),
        ("cancel_subscription", {"subscription_id": "mag"}, {"status": "cancelled"}),
    ],
    "reservation": [
        ("search_restaurants", {"location": "old town"}, ["olive", "pho"]),
        ("search_restaurants", {"location": "", "sort_by": "price_desc"}, ["grill", "olive", "pho"]),
        ("search_restaurants", {"location": "", "sort_by": "price_asc"}, ["pho", "olive", "grill"]),
        ("search_restaurants", {"location": "", "sort_by": "rating"}, ["grill", "olive", "pho"]),
        ("search_restaurants", {"location": "", "cuisine": "Italian food"}, ["olive"]),
        (
            "book_restaurant",
            {"restaurant_id": "olive", "date_time": "2025-03-04T19:00", "party_size": 2},
            {"reservation_id": "RSV_R_002", "status": "confirmed"},
        ),
        (
            "modify_restaurant_reservation",
            {"reservation_id": "R1", "field": "date_time", "new_value": "2025-03-05"},
            {"reservation_id": "R1", "status": "modified", "field": "date_time"},
        ),
        (
            "cancel_restaurant_reservation",
            {"reservation_id": "R1"},
            {"reservation_id": "R1", "status": "cancelled"},
        ),
        ("search_events", {"event_tags": ["CONCERT", "x"]}, ["gig"]),
        ("search_events", {"event_tags": [], "location": "town"}, ["fair"]),
        (
            "book_event_ticket",
            {"event_id": "fair", "ticket_type": "vip", "ticket_count": 2},
            {"booking_id": "BKG_E_002", "status": "confirmed"},
        ),
        (
            "modify_event_ticket",
            {"booking_id": "B1", "field": "ticket_count", "new_value": "-3"},
            {"booking_id": "B1"},
        ),
        ("cancel_event_ticket", {"booking_id": "B1"}, {"booking_id": "B1", "status": "cancelled"}),
        (
            "search_service_providers",
            {"service_type": "", "location": "", "sort_by": "distance"},
            ["vet", "cut"],
        ),
        (
            "search_service_providers",
            {"service_type": "", "location": "", "sort_by": "rating"},
            ["cut", "vet"],
        ),
        ("search_service_providers", {"service_type": "barber", "location": "town"}, ["cut"]),
        (
            "book_service_appointment",
            {"provider_id": "vet", "date_time": "2025-03-04"},
            {"appointment_id": "APT_002", "status": "confirmed"},
        ),
        (
            "modify_service_appointment",
            {"appointment_id": "A1", "field": "contact_info", "new_value": "x"},
            {"appointment_id": "A1", "field": "contact_info"},
        ),
        ("cancel_service_appointment", {"appointment_id": "A1"}, {"status": "cancelled"}),
        (
            "track_reservation_updates",
            {"booking_id": "B1", "update_scope": "all"},
            {"tracking_id": "TRK_B1", "target": "B1", "target_kind": "event_booking", "scope": "all"},
        ),
        ("track_reservation_updates", {"appointment_id": "A1"}, {"target_kind": "service_appointment"}),
    ],
    "travel": [
        ("search_destinations", {"destination_constraints": ["quiet", "nowhere"]}, ["coast"]),
        ("search_destinations", {"destination_constraints": ["hills"]}, ["hills"]),
        ("search_destinations", {}, ["coast", "hills"]),
        (
            "shortlist_destinations",
            {"destination_ids": ["hills"] * 2},
            {"shortlist_id": "DSH_001", "count": 2},
        ),
        (
            "plan_trip",
            {"destination": "Prague", "selected_stop_ids": ["castle"], "include_stopovers": True},
            {
                "trip_id": "TRP_002",
                "selected_stop_ids": ["castle"],
                "duration_days": None,
                "sections": {"daily_breakdown": False, "stopovers": True, "budget_summary": False},
            },
        ),
        ("search_trip_stops", {"destination": "castle"}, ["castle"]),
        ("search_trip_stops", {"destination": "Rome", "stop_tags": ["Sight"]}, ["fountain"]),
        ("search_flights", {"origin": "oslo", "destination": "rome", "passenger_count": 4}, ["f2"]),
        (
            "search_flights",
            {"origin": "", "destination": "", "passenger_count": 3, "sort_by": "price_desc"},
            ["f1", "f2"],
        ),
        ("search_hotels", {"location": "Rome", "guest_count": 4, "room_count": 2}, ["h1"]),
        (
            "search_hotels",
            {"location": "Rome", "guest_count": 5, "room_count": 2, "sort_by": "price_asc"},
            [],
        ),
        ("search_hotels", {"location": "Rome", "guest_count": 1, "room_count": 3}, []),
        (
            "search_ground_transport",
            {"origin": "Rome", "destination": "Naples", "passenger_count": 9},
            ["g1"],
        ),
        ("book_flight", {"flight_offer_id": "f1"}, {"booking_id": "FLT_001", "status": "confirmed"}),
        ("book_hotel", {"hotel_offer_id": "h1"}, {"booking_id": "HTL_002", "status": "confirmed"}),
        (
            "book_ground_transport",
            {"transport_offer_id": "g1"},
            {"booking_id": "GND_003", "status": "confirmed"},
        ),
        (
            "modify_flight_booking",
            {"booking_id": "FLT_001", "field": "seat_preference", "new_value": "roof"},
            {"status": "modified", "field": "seat_preference"},
        ),
        (
            "modify_hotel_booking",
            {"booking_id": "HTL_002", "field": "room_count", "new_value": "2"},
            {"status": "modified", "field": "room_count"},
        ),
        (
            "cancel_flight_booking",
            {"booking_id": "FLT_001"},
            {"booking_id": "FLT_001", "status": "cancelled"},
        ),
        ("cancel_hotel_booking", {"booking_id": "GND_003"}, {"booking_id": "GND_003", "status": "cancelled"}),
        ("cancel_ground_transport_booking", {"booking_id": "GND_003"}, {"status": "cancelled"}),
        (
            "track_trip_updates",
            {"trip_id": "T1"},
            {"target": "T1", "target_kind": "trip", "scope": "critical"},
        ),
        ("track_trip_updates", {"booking_id": "HTL_002"}, {"target_kind": "booking"}),
        (
            "replan_trip",
            {"trip_id": "T1", "replanning_goal": "rain", "disrupted_item_id": "museum"},
            {"disrupted_item_id": "museum", "selected_alternative_stop_ids": [], "status": "replanned"},
        ),
        (
            "replan_trip",
            {"trip_id": "T1", "replanning_goal": "x", "disrupted_item_id": "h1"},
            {"trip_id": "T1"},
        ),
    ],
    "communication": [
        ("search_messages", {}, ["m1"]),
        ("search_messages", {"sender": "maya", "folder": "inbox"}, ["m1"]),
        ("search_messages", {"folder": "sent"}, []),
        ("search_messages", {"folder": "archive"}, ["m2"]),
        (
            "list_labels",
            {},
            {
                "count": 2,
                "results": [
                    {"label_id": "la1", "name": "urgent", "topic": "now"},
                    {"label_id": "la2", "name": "la2", "topic": None},
                ],
            },
        ),
        (
            "list_message_folders",
            {},
            {"count": 1, "results": [{"folder_id": "fo1", "name": "Receipts", "purpose": "bills"}]},
        ),
        ("set_message_priority", {"message_ids": ["m1", "m1"], "priority": "high"}, {"prioritized": 2}),
        (
            "label_messages",
            {"message_ids": ["m1"], "label_ids": ["la2", "la1", "la2"]},
            {"labeled": 1, "label_ids": ["la2", "la1", "la2"], "names": ["la2", "urgent", "la2"]},
        ),
        (
            "archive_messages",
            {"message_ids": ["m1"], "folder_id": "fo1"},
            {"archived": 1, "folder_id": "fo1"},
        ),
        (
            "search_messages",
            {"folder": "archive", "sender": "Maya"},
            {
                "count": 1,
                "results": [
                    {
                        "message_id": "m1",
                        "sender": "Maya Lund",
                        "subject": "Rota",
                        "folder": "archive",
                        "priority": "high",
                        "thread_id": "th1",
                        "labels": ["la2", "urgent"],
                        "timestamp": None,
                        "archived": True,
                        "assigned_folder_id": "fo1",
                        "attributes": {},
                    }
                ],
            },
        ),
        ("draft_message", {"body": "x", "thread_id": "th1"}, {"draft_id": "DRAFT_001", "status": "drafted"}),
        ("send_message", {"body": "x", "recipient": "y"}, {"sent_id": "SENT_001", "status": "sent"}),
        ("send_draft", {"draft_id": "DRAFT_001"}, {"sent_id": "SENT_002", "from_draft_id": "DRAFT_001"}),
        ("draft_message", {"body": "x", "thread_id": "th2"}, None),
    ],
    "scheduling": [
        ("list_events", {}, ["e1"]),
        ("list_events", {"calendar": "work", "participants": ["bo@MAIL.example"]}, ["e1"]),
        ("check_conflicts", {**TIMES}, {"has_conflict": True}),
        (
            "check_conflicts",
            {**TIMES, "participants": ["bo@mail.example"]},
            {"conflicts": [], "has_conflict": False},
        ),
        ("check_conflicts", {**TIMES, "participants": []}, {"conflicts": [], "has_conflict": False}),
        (
            "check_conflicts",
            {"start_time": "2025-03-04T11:00:00", "end_time": "2025-03-05"},
            {"has_conflict": False},
        ),
        (
            "check_conflicts",
            {"start_time": "2025-03-04T09", "end_time": "2025-03-04T10"},
            {"has_conflict": False},
        ),
        ("create_event", {"title": "New", **TIMES}, {"event_id": "EVT_003", "status": "confirmed"}),
        ("create_event", {"title": "New", "start_time": "2025-03-04", "end_time": "2025-03-04"}, None),
        (
            "reschedule_event",
            {"event_id": "e1", "new_start_time": "2025-03-06", "new_end_time": "2025-03-07"},
            {"event_id": "e1", "status": "rescheduled"},
        ),
        (
            "modify_event",
            {"event_id": "e1", "field": "participants", "new_value": " a, ,b "},
            {"event_id": "e1", "status": "modified", "field": "participants"},
        ),
        ("list_events", {"participants": ["A"]}, ["e1"]),
        ("respond_to_event_invite", {"event_id": "e2", "response": "decline"}, {"response": "decline"}),
        ("list_events", {}, ["e1", "e2", "EVT_003"]),
        ("cancel_event", {"event_id": "EVT_003"}, {"event_id": "EVT_003", "status": "cancelled"}),
        (
            "set_reminder",
            {"target_id": "e2"},
            {"reminder_id": "RMD_001", "target_id": "e2", "cadence": None, "remind_at": None},
        ),
        (
            "track_event_updates",
            {"target_id": "EVT_003"},
            {"tracking_id": "TRK_EVT_003", "scope": "critical"},
        ),
        (
            "find_alternative_slots",
            {"target_id": "e1"},
            {
                "target_id": "e1",
                "alternatives": [
                    {"slot_id": "ALT_e1_1", "start_hint": "2025-03-06+1d"},
                    {"slot_id": "ALT_e1_2", "start_hint": "2025-03-06+2d"},
                    {"slot_id": "ALT_e1_3", "start_hint": "2025-03-06+3d"},
                ],
            },
        ),
    ],
    "workspace": [
        ("list_files", {"location": "home"}, ["fi1"]),
        ("list_files", {"file_type": "csv"}, []),
        ("search_documents", {"doc_type": "memo", "location": "/docs"}, ["d1"]),
        ("list_trackers", {}, {"results": [{"tracker_id": "t1", "title": "Chores", "entry_count": 2}]}),
        ("list_file_folders", {}, {"count": 1}),
        ("classify_files", {"file_ids": ["fi1", "fi2"], "scheme": "by_project"}, {"classified": 2}),
        ("classify_files", {"file_ids": ["fi1", "fi2"], "scheme": "by_type"}, {"scheme": "by_type"}),
        ("classify_files", {"file_ids": ["fi1", "fi2"], "scheme": "by_owner"}, {"classified": 2}),
        ("classify_files", {"file_ids": ["fi2"], "scheme": "by_date"}, {"classified": 1}),
        ("classify_files", {"file_ids": ["fi2"], "scheme": "by_priority"}, {"classified": 1}),
        (
            "move_files",
            {"file_ids": ["fi1"], "folder_id": "fd1"},
            {"moved": 1, "folder_id": "fd1", "name": "Archive"},
        ),
        ("archive_files", {"file_ids": ["fi2"], "folder_id": "fd1"}, {"archived": 1, "name": "Archive"}),
        (
            "list_files",
            {"location": "Archive", "file_type": "pdf"},
            {
                "count": 1,
                "results": [
                    {
                        "file_id": "fi1",
                        "name": "a.pdf",
                        "file_type": "pdf",
                        "location": "Archive",
                        "archived": False,
                        "owner": None,
                        "labels": ["by_project:garden", "by_type:pdf", "by_owner:unknown"],
                        "attributes": {"project": "garden"},
                    }
                ],
            },
        ),
        ("create_document", {"doc_type": "note", "title": "t", "location": "/"}, {"document_id": "DOC_002"}),
        ("update_document", {"document_id": "DOC_002", "content_delta": "a"}, {"status": "updated"}),
        ("update_document", {"document_id": "d1", "content_delta": "second"}, {"status": "updated"}),
        (
            "update_tracker",
            {"tracker_id": "t1", "update_action": "create_entry", "entry_id": "C"},
            {"entry_id": "C"},
        ),
        (
            "update_tracker",
            {"tracker_id": "t1", "update_action": "update_status", "entry_id": "A"},
            {"entry_id": "A"},
        ),
        (
            "update_tracker",
            {
                "tracker_id": "t1",
                "update_action": "record_next_action",
                "entry_id": "B",
                "entry_payload": "call",
            },
            {"action": "record_next_action"},
        ),
        (
            "update_tracker",
            {"tracker_id": "t1", "update_action": "close_entry", "entry_id": "C"},
            {"entry_id": "C"},
        ),
        ("update_tracker", {"tracker_id": "t1", "update_action": "close_entry"}, None),
        ("update_tracker", {"tracker_id": "t1", "update_action": "close_entry", "entry_id": "Z"}, None),
        ("delete_files", {"file_ids": ["fi1"]}, {"deleted": 1}),
        ("list_files", {}, ["fi2"]),
    ],
}


@pytest.mark.parametrize("domain", DOMAINS)
def test_each_call_of_a_session_is_answered_as_expected(domain: str) -> None:
    """Expected is a list of the ids found, a part of the answer, or None for a refusal."""
    environment = Environment.build(domain, WORLDS[domain], ADA)
    for name, arguments, expected in CALLS[domain]:
        answer = environment.call(name, arguments)
        assert answer.is_error == (expected is None), (name, arguments, answer.content)
        if isinstance(expected, list):
            assert _ids(answer.content) == expected, (name, arguments)
        elif expected is not None:
            assert {key: answer.content[key] for key in expected} == expected, (name, arguments)


def _ids(content: dict[str, Any]) -> list[str]:
    rows = content["subscriptions"] if "subscriptions" in content else content["results"]
    assert content["count"] == len(rows)
    return [next(iter(row.values())) for row in rows]


def test_every_tool_is_called() -> None:
    called = {name for calls in CALLS.values() for name, _, _ in calls} | {"compare_products"}
    assert called == {tool.name for domain in DOMAINS for tool in load_ontology().offered(domain)}


def test_what_is_stored_and_not_shown_is_what_was_asked_for() -> None:
    environments = {domain: Environment.build(domain, WORLDS[domain], ADA) for domain in DOMAINS}
    for domain, calls in CALLS.items():
        for name, arguments, _ in calls:
            environments[domain].call(name, arguments)
    state = {domain: environment.snapshot()["tables"] for domain, environment in environments.items()}
    assert state["commerce"]["orders"]["O1"]["quantity"] == 2
    assert state["commerce"]["subscriptions"]["mag"]["pause_until"] == "2025-05-01"
    assert state["commerce"]["subscriptions"]["gym"]["pause_until"] is None
    assert state["reservation"]["restaurant_reservations"]["RSV_R_002"] == {
        "reservation_id": "RSV_R_002",
        "restaurant_id": "olive",
        "date_time": "2025-03-04T19:00",
        "party_size": 2,
        "status": "confirmed",
        "contact_info": "ada_example@mail.example",
    }
    assert state["reservation"]["event_bookings"]["B1"]["ticket_count"] == -3
    assert state["reservation"]["service_appointments"]["APT_002"]["service_type"] == "veterinary"
    assert state["travel"]["trips"]["T1"]["selected_stop_ids"] == ["museum", "fountain"]
    assert state["travel"]["bookings"]["HTL_002"]["room_count"] == 2
    assert state["travel"]["bookings"]["FLT_001"]["seat_preference"] == "roof"
    assert state["communication"]["sent"]["SENT_002"]["thread_id"] == "th1"
    assert state["workspace"]["documents"]["d1"]["content_brief"] == "first\nsecond"
    assert state["workspace"]["documents"]["DOC_002"]["content_brief"] == "a"
    assert state["workspace"]["files"]["fi2"]["labels"] == [
        *("by_type:other", "by_project:unassigned", "by_owner:Ada", "by_date:unknown", "by_priority:normal")
    ]
    entries = state["workspace"]["trackers"]["t1"]["entries"]
    assert {key: entry["status"] for key, entry in entries.items()} == {
        "A": "in_progress",
        "B": "x",
        "C": "closed",
    }
    assert entries["B"]["next_action"] == "call"
