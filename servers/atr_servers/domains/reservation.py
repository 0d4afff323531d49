"""Restaurant tables, event tickets and appointments with service providers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from atr_data.episode import PersonaProfile
from atr_servers.domains.matching import (
    by_rating,
    loose_match,
    moment,
    search_answer,
    shares_text,
    tags_with,
    tracking,
    whole_number,
)
from atr_servers.domains.tables import Attributes, Column, Link, Row, State, Table, attribute, own_id


def _reservation(restaurant_id: str, attributes: Attributes, persona: PersonaProfile) -> Row:
    return {
        "restaurant_id": restaurant_id,
        "date_time": attribute(attributes, "reservation_date_time", "text", ""),
        "party_size": attribute(attributes, "party_size", "whole", 1),
        "status": attribute(attributes, "reservation_status", "text", "confirmed"),
        "contact_info": persona.default_contact,
    }


def _booking(event_id: str, attributes: Attributes, persona: PersonaProfile) -> Row:
    return {
        "event_id": event_id,
        "ticket_type": attribute(attributes, "ticket_type", "text", "standard"),
        "ticket_count": attribute(attributes, "ticket_count", "whole", 1),
        "status": attribute(attributes, "booking_status", "text", "confirmed"),
        "contact_info": persona.default_contact,
    }


def _appointment(provider_id: str, attributes: Attributes, persona: PersonaProfile) -> Row:
    return {
        "provider_id": provider_id,
        "service_type": attribute(attributes, "service_type", "text", "other"),
        "date_time": attribute(attributes, "appointment_date_time", "text", ""),
        "status": attribute(attributes, "appointment_status", "text", "confirmed"),
        "contact_info": persona.default_contact,
    }


TABLES = (
    Table(
        "restaurants",
        "restaurant_id",
        "restaurant",
        reference_types=("restaurant",),
        columns=(
            own_id("name"),
            Column("cuisine", "text", "unknown"),
            Column("location", "text", ""),
            Column("price_range", "text?"),
            Column("seating_style", "text?"),
            Column("rating", "number?"),
        ),
        link=Link("restaurant_reservations", _reservation),
    ),
    Table(
        "events",
        "event_id",
        "event",
        reference_types=("event",),
        columns=(
            own_id("name"),
            Column("location", "text", ""),
            Column("date_time", "text?"),
            Column("price", "number?"),
            tags_with("event_tags", "event_type"),
        ),
        link=Link("event_bookings", _booking),
    ),
    Table(
        "providers",
        "provider_id",
        "service provider",
        reference_types=("service_provider",),
        columns=(
            own_id("name"),
            Column("service_type", "text", "other"),
            Column("location", "text", ""),
            Column("rating", "number?"),
            Column("distance_km", "number?"),
        ),
        link=Link("service_appointments", _appointment),
    ),
    Table(
        "restaurant_reservations",
        "reservation_id",
        "restaurant reservation",
        "Ids of earlier reservations stand in the attributes of restaurants;"
        " book_restaurant answers new ones.",
    ),
    Table(
        "event_bookings",
        "booking_id",
        "event booking",
        "Ids of earlier bookings stand in the attributes of events; book_event_ticket answers new ones.",
    ),
    Table(
        "service_appointments",
        "appointment_id",
        "service appointment",
        "Ids of earlier appointments stand in the attributes of service providers;"
        " book_service_appointment answers new ones.",
    ),
)

_TRACKED = (
    ("reservation_id", "restaurant_reservations", "restaurant_reservation"),
    ("booking_id", "event_bookings", "event_booking"),
    ("appointment_id", "service_appointments", "service_appointment"),
)


def _price_rank(row: Row) -> int:
    """One for `$` to four for `$$$$`; an unknown price range ranks above them."""
    text = (row["price_range"] or "").strip()
    return len(text) if text in ("$", "$$", "$$$", "$$$$") else 99


_RESTAURANT_ORDERS: Mapping[str, Callable[[Row], float]] = {
    "rating": by_rating,
    "price_asc": _price_rank,
    "price_desc": lambda row: -_price_rank(row),
}
_PROVIDER_ORDERS: Mapping[str, Callable[[Row], float]] = {
    "rating": by_rating,
    "distance": lambda row: math.inf if row["distance_km"] is None else row["distance_km"],
}


def search_restaurants(
    state: State, *, location: str, cuisine: str | None = None, sort_by: str = "relevance"
) -> dict[str, Any]:
    found = [
        row
        for row in state.rows["restaurants"].values()
        if loose_match(location, row["location"]) and loose_match(cuisine, row["cuisine"])
    ]
    return search_answer(state, "restaurants", found, _RESTAURANT_ORDERS.get(sort_by))


def book_restaurant(
    state: State, *, restaurant_id: str, date_time: str, party_size: int, contact_info: str | None = None
) -> dict[str, Any]:
    state.known("restaurants", restaurant_id)
    reservation_id = state.add(
        "restaurant_reservations",
        "RSV_R_",
        restaurant_id=restaurant_id,
        date_time=moment(date_time, "date_time"),
        party_size=party_size,
        status="confirmed",
        contact_info=contact_info or state.persona.default_contact,
    )
    return {"reservation_id": reservation_id, "status": "confirmed"}


def modify_restaurant_reservation(
    state: State, *, reservation_id: str, field: str, new_value: str
) -> dict[str, Any]:
    return state.modify("restaurant_reservations", reservation_id, field, _new_value(field, new_value))


def cancel_restaurant_reservation(state: State, *, reservation_id: str) -> dict[str, Any]:
    return state.set_status("restaurant_reservations", reservation_id, "cancelled")


def search_events(
    state: State, *, location: str | None = None, event_tags: list[str] | None = None
) -> dict[str, Any]:
    found = [
        row
        for row in state.rows["events"].values()
        if loose_match(location, row["location"])
        and (not event_tags or shares_text(event_tags, row["event_tags"]))
    ]
    return search_answer(state, "events", found)


def book_event_ticket(
    state: State, *, event_id: str, ticket_type: str, ticket_count: int, contact_info: str | None = None
) -> dict[str, Any]:
    state.known("events", event_id)
    booking_id = state.add(
        "event_bookings",
        "BKG_E_",
        event_id=event_id,
        ticket_type=ticket_type,
        ticket_count=ticket_count,
        status="confirmed",
        contact_info=contact_info or state.persona.default_contact,
    )
    return {"booking_id": booking_id, "status": "confirmed"}


def modify_event_ticket(state: State, *, booking_id: str, field: str, new_value: str) -> dict[str, Any]:
    return state.modify("event_bookings", booking_id, field, _new_value(field, new_value))


def cancel_event_ticket(state: State, *, booking_id: str) -> dict[str, Any]:
    return state.set_status("event_bookings", booking_id, "cancelled")


def search_service_providers(
    state: State, *, service_type: str, location: str, sort_by: str = "relevance"
) -> dict[str, Any]:
    found = [
        row
        for row in state.rows["providers"].values()
        if loose_match(service_type, row["service_type"]) and loose_match(location, row["location"])
    ]
    return search_answer(state, "providers", found, _PROVIDER_ORDERS.get(sort_by))


def book_service_appointment(
    state: State, *, provider_id: str, date_time: str, contact_info: str | None = None
) -> dict[str, Any]:
    provider = state.known("providers", provider_id)
    appointment_id = state.add(
        "service_appointments",
        "APT_",
        provider_id=provider_id,
        service_type=provider["service_type"],
        date_time=moment(date_time, "date_time"),
        status="confirmed",
        contact_info=contact_info or state.persona.default_contact,
    )
    return {"appointment_id": appointment_id, "status": "confirmed"}


def modify_service_appointment(
    state: State, *, appointment_id: str, field: str, new_value: str
) -> dict[str, Any]:
    return state.modify("service_appointments", appointment_id, field, _new_value(field, new_value))


def cancel_service_appointment(state: State, *, appointment_id: str) -> dict[str, Any]:
    return state.set_status("service_appointments", appointment_id, "cancelled")


def _new_value(field: str, new_value: str) -> str | int:
    match field:
        case "date_time":
            return moment(new_value, "new_value")
        case "party_size" | "ticket_count":
            return whole_number(new_value, "new_value")
        case _:
            return new_value


def track_reservation_updates(
    state: State,
    *,
    reservation_id: str | None = None,
    booking_id: str | None = None,
    appointment_id: str | None = None,
    update_scope: str | None = "critical",
) -> dict[str, Any]:
    ids = {"reservation_id": reservation_id, "booking_id": booking_id, "appointment_id": appointment_id}
    target, table, kind = next(
        (i, table, kind) for name, table, kind in _TRACKED if (i := ids[name]) is not None
    )
    state.known(table, target)
    return tracking(target, target_kind=kind, scope=update_scope)
