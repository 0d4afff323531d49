"""A small world for each domain: references with linked rows, and the persona who owns them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atr_data.episode import PersonaProfile

ADA = PersonaProfile(
    persona_id="ada_example",
    home_city="Riverton, WY",
    default_shipping_address="Riverton, WY 82501",
    default_payment_method="CARD_ADA_EX",
    default_contact="ada_example@mail.example",
)


def ref(kind: str, reference_id: str, **attributes: Any) -> dict[str, Any]:
    return {"id": reference_id, "type": kind, "attributes": attributes}


WORLDS: Mapping[str, list[dict[str, Any]]] = {
    "commerce": [
        ref("product", "kettle", name="Kettle", price=35, category="kitchen", rating=4.5, order_id="O1"),
        ref("product", "teapot", name="Teapot", price=12.5, category="kitchen ware", colour="blue"),
        ref(
            "product",
            "lamp",
            price=80.0,
            category="lighting",
            rating=3.0,
            order_id="O2",
            order_status="shipped",
        ),
        ref("subscription", "mag", name="Magazine", plan="basic", price_per_period=5, price_changed=True),
        ref("subscription", "gym", status="paused", pause_until="2025-09-01", usage_notes="rarely used"),
    ],
    "reservation": [
        ref("restaurant", "olive", cuisine="italian", location="Old Town", rating=4.0, price_range="$$"),
        ref("restaurant", "pho", location="Old Town", price_range="$", reservation_id="R1", party_size=2),
        ref("restaurant", "grill", location="Harbour", rating=4.8),
        ref("event", "gig", location="Harbour", event_tags=["music"], event_type="concert", booking_id="B1"),
        ref("event", "fair", location="Old Town", price=5),
        ref("service_provider", "vet", service_type="veterinary", location="Old Town", distance_km=2),
        ref(
            "service_provider",
            "cut",
            service_type="barber",
            location="Old Town",
            appointment_id="A1",
            rating=4,
        ),
    ],
    "travel": [
        ref("destination", "coast", name="Coast", region="North", tags=["beach", "quiet"]),
        ref("destination", "hills", tags=["hiking"]),
        ref("trip_stop", "museum", location="Rome", stop_type="museum", trip_id="T1"),
        ref("trip_stop", "fountain", location="Rome", tags=["sight"], trip_id="T1"),
        ref("trip_stop", "castle", name="Castle", location="Prague"),
        ref("flight_offer", "f1", origin="Oslo", destination="Rome", price=120, available_seats=3),
        ref("flight_offer", "f2", origin="Oslo", destination="Rome"),
        ref(
            "hotel_offer", "h1", location="Rome", price_per_night=90, available_rooms=2, max_guests_per_room=2
        ),
        ref("transport_offer", "g1", origin="Rome", destination="Naples", mode="train", price=30),
    ],
    "communication": [
        ref("message", "m1", sender="Maya Lund", subject="Rota", body="secret body", thread_id="th1"),
        ref("message", "m2", sender="news@letters.example", labels=["bulk"], archived=True, folder="archive"),
        ref("folder", "fo1", name="Receipts", purpose="bills", location="dropped"),
        ref("label", "la1", name="urgent", topic="now"),
        ref("label", "la2"),
    ],
    "scheduling": [
        ref(
            "calendar_event",
            "e1",
            title="Review",
            start_time="2025-03-04T10:00:00",
            end_time="2025-03-04T11:00:00",
            participants=["Bo@mail.example"],
            calendar="work",
        ),
        ref("event", "e2", name="Call", calendar="personal", status="cancelled"),
    ],
    "workspace": [
        ref("file", "fi1", name="a.pdf", file_type="pdf", location="/home/in", project="garden"),
        ref("file", "fi2", labels=["by_type:other"], owner="Ada"),
        ref("document", "d1", title="Notes", doc_type="memo", location="/docs", content_brief="first"),
        ref(
            "tracker", "t1", title="Chores", entries=[{"entry_id": "A"}, {"entry_id": "B", "status": "x"}, 5]
        ),
        ref("folder", "fd1", name="Archive", purpose="old things"),
    ],
}
