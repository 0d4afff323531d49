"""Flights, hotels and ground transport: found, booked, changed, cancelled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atr_servers.domains.matching import loose_match, search_answer, whole_number
from atr_servers.domains.tables import Row, State


def _offer_order(sort_by: str, key: str, price: str = "price") -> Callable[[Row], Any] | None:
    """Sort key over offers: those without a price last, equal prices by id, in both directions."""
    if sort_by not in ("price_asc", "price_desc"):
        return None
    sign = 1 if sort_by == "price_asc" else -1
    return lambda row: (row[price] is None, sign * (row[price] or 0), row[key])


def search_flights(
    state: State, *, origin: str, destination: str, passenger_count: int, sort_by: str = "relevance"
) -> dict[str, Any]:
    found = _rides(state, "flight_offers", origin, destination, passenger_count)
    return search_answer(state, "flight_offers", found, _offer_order(sort_by, "flight_offer_id"))


def search_ground_transport(
    state: State, *, origin: str, destination: str, passenger_count: int, sort_by: str = "relevance"
) -> dict[str, Any]:
    found = _rides(state, "transport_offers", origin, destination, passenger_count)
    return search_answer(state, "transport_offers", found, _offer_order(sort_by, "transport_offer_id"))


def _rides(state: State, table: str, origin: str, destination: str, passenger_count: int) -> list[Row]:
    return [
        row
        for row in state.rows[table].values()
        if loose_match(origin, row["origin"])
        and loose_match(destination, row["destination"])
        and (row["available_seats"] is None or row["available_seats"] >= passenger_count)
    ]


def search_hotels(
    state: State, *, location: str, guest_count: int, room_count: int, sort_by: str = "relevance"
) -> dict[str, Any]:
    def has_space(row: Row) -> bool:
        rooms, beds = row["available_rooms"], row["max_guests_per_room"]
        return (rooms is None or rooms >= room_count) and (beds is None or beds * room_count >= guest_count)

    rows = state.rows["hotel_offers"].values()
    found = [row for row in rows if loose_match(location, row["location"]) and has_space(row)]
    order = _offer_order(sort_by, "hotel_offer_id", "price_per_night")
    return search_answer(state, "hotel_offers", found, order)


def book_flight(
    state: State,
    *,
    flight_offer_id: str,
    traveler_info: str | None = None,
    seat_preference: str | None = None,
    payment_method: str | None = None,
) -> dict[str, Any]:
    state.known("flight_offers", flight_offer_id)
    return _book(
        state,
        "FLT_",
        kind="flight",
        offer_id=flight_offer_id,
        traveler_info=traveler_info or state.persona.default_contact,
        seat_preference=seat_preference,
        payment_method=payment_method or state.persona.default_payment_method,
    )


def book_hotel(
    state: State, *, hotel_offer_id: str, guest_info: str | None = None, payment_method: str | None = None
) -> dict[str, Any]:
    state.known("hotel_offers", hotel_offer_id)
    return _book(
        state,
        "HTL_",
        kind="hotel",
        offer_id=hotel_offer_id,
        room_count=1,
        guest_info=guest_info or state.persona.default_contact,
        payment_method=payment_method or state.persona.default_payment_method,
    )


def book_ground_transport(
    state: State,
    *,
    transport_offer_id: str,
    traveler_info: str | None = None,
    payment_method: str | None = None,
) -> dict[str, Any]:
    state.known("transport_offers", transport_offer_id)
    return _book(
        state,
        "GND_",
        kind="ground_transport",
        offer_id=transport_offer_id,
        traveler_info=traveler_info or state.persona.default_contact,
        payment_method=payment_method or state.persona.default_payment_method,
    )


def _book(state: State, prefix: str, **fields: Any) -> dict[str, Any]:
    return {"booking_id": state.add("bookings", prefix, status="confirmed", **fields), "status": "confirmed"}


def modify_flight_booking(state: State, *, booking_id: str, field: str, new_value: str) -> dict[str, Any]:
    return state.modify("bookings", booking_id, field, new_value)


def modify_hotel_booking(state: State, *, booking_id: str, field: str, new_value: str) -> dict[str, Any]:
    value = whole_number(new_value, "new_value") if field == "room_count" else new_value
    return state.modify("bookings", booking_id, field, value)


def cancel_flight_booking(state: State, *, booking_id: str) -> dict[str, Any]:
    return state.set_status("bookings", booking_id, "cancelled")


def cancel_hotel_booking(state: State, *, booking_id: str) -> dict[str, Any]:
    return state.set_status("bookings", booking_id, "cancelled")


def cancel_ground_transport_booking(state: State, *, booking_id: str) -> dict[str, Any]:
    return state.set_status("bookings", booking_id, "cancelled")
