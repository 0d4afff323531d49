"""Destinations, trips and their stops; the tables of all travel."""

from __future__ import annotations

from typing import Any

from atr_data.episode import PersonaProfile
from atr_servers.domains.matching import (
    loose_match,
    search_answer,
    shares_text,
    tags_with,
    tracking,
)
from atr_servers.domains.tables import (
    Attributes,
    Column,
    Link,
    Refusal,
    Row,
    State,
    Table,
    attribute,
    excerpt,
    own_id,
)


def _trip(stop_id: str, attributes: Attributes, persona: PersonaProfile) -> Row:
    return {
        "destination": attribute(attributes, "location", "text?", ""),
        "duration_days": None,
        "traveler_count": None,
        "selected_stop_ids": [stop_id],
        "include_daily_breakdown": False,
        "include_stopovers": False,
        "include_budget_summary": False,
    }


def _visit(trip: Row, stop_id: str) -> None:
    if stop_id not in trip["selected_stop_ids"]:
        trip["selected_stop_ids"].append(stop_id)


TABLES = (
    Table(
        "destinations",
        "destination_id",
        "destination",
        reference_types=("destination",),
        columns=(own_id("name"), Column("region", "text?"), Column("tags", "texts", ())),
    ),
    Table(
        "flight_offers",
        "flight_offer_id",
        "flight offer",
        reference_types=("flight_offer",),
        columns=(
            Column("origin", "text", ""),
            Column("destination", "text", ""),
            Column("departure_date", "text", ""),
            Column("return_date", "text?"),
            Column("airline", "text?"),
            Column("price", "number?"),
            Column("available_seats", "whole?"),
        ),
    ),
    Table(
        "hotel_offers",
        "hotel_offer_id",
        "hotel offer",
        reference_types=("hotel_offer",),
        columns=(
            own_id("name"),
            Column("location", "text", ""),
            Column("check_in_date", "text?"),
            Column("check_out_date", "text?"),
            Column("available_rooms", "whole?"),
            Column("max_guests_per_room", "whole?"),
            Column("price_per_night", "number?"),
        ),
    ),
    Table(
        "transport_offers",
        "transport_offer_id",
        "ground transport offer",
        reference_types=("transport_offer",),
        columns=(
            Column("origin", "text", ""),
            Column("destination", "text", ""),
            Column("mode", "text", "train"),
            Column("departure_date", "text", ""),
            Column("price", "number?"),
            Column("available_seats", "whole?"),
        ),
    ),
    Table(
        "trip_stops",
        "stop_id",
        "trip stop",
        reference_types=("trip_stop",),
        columns=(own_id("name"), Column("location", "text?"), tags_with("tags", "stop_type")),
        link=Link("trips", _trip, _visit),
    ),
    Table(
        "trips",
        "trip_id",
        "trip",
        "Ids of earlier trips stand in the attributes of trip stops; plan_trip answers new ones.",
    ),
    Table(
        "bookings",
        "booking_id",
        "booking",
        "book_flight, book_hotel and book_ground_transport answer the booking ids.",
    ),
    Table("shortlists", "shortlist_id", "shortlist", "shortlist_destinations answers the ids."),
)

_BOOKABLE = ("bookings", "flight_offers", "hotel_offers", "transport_offers")


def search_destinations(state: State, *, destination_constraints: list[str] | None = None) -> dict[str, Any]:
    def fits(row: Row) -> bool:
        texts = (row["region"], " ".join(row["tags"]), row["name"])
        return any(loose_match(wish, text) for wish in destination_constraints or () for text in texts)

    rows = state.rows["destinations"].values()
    return search_answer(
        state, "destinations", [row for row in rows if not destination_constraints or fits(row)]
    )


def shortlist_destinations(state: State, *, destination_ids: list[str]) -> dict[str, Any]:
    state.known_all("destinations", destination_ids)
    shortlist_id = state.add("shortlists", "DSH_", destination_ids=destination_ids)
    return {
        "shortlist_id": shortlist_id,
        "destination_ids": destination_ids,
        "count": len(destination_ids),
    }


def plan_trip(
    state: State,
    *,
    destination: str,
    duration_days: int | None = None,
    traveler_count: int | None = None,
    selected_stop_ids: list[str] | None = None,
    include_daily_breakdown: bool = False,
    include_stopovers: bool = False,
    include_budget_summary: bool = False,
) -> dict[str, Any]:
    stop_ids = selected_stop_ids or []
    state.known_all("trip_stops", stop_ids)
    trip_id = state.add(
        "trips",
        "TRP_",
        destination=destination,
        duration_days=duration_days,
        traveler_count=traveler_count,
        selected_stop_ids=stop_ids,
        include_daily_breakdown=include_daily_breakdown,
        include_stopovers=include_stopovers,
        include_budget_summary=include_budget_summary,
    )
    return {
        "trip_id": trip_id,
        "destination": destination,
        "selected_stop_ids": stop_ids,
        "duration_days": duration_days,
        "sections": {
            "daily_breakdown": include_daily_breakdown,
            "stopovers": include_stopovers,
            "budget_summary": include_budget_summary,
        },
    }


def search_trip_stops(
    state: State, *, destination: str = "", stop_tags: list[str] | None = None
) -> dict[str, Any]:
    found = [
        row
        for row in state.rows["trip_stops"].values()
        if (loose_match(destination, row["name"]) or loose_match(destination, row["location"]))
        and (not stop_tags or shares_text(stop_tags, row["tags"]))
    ]
    return search_answer(state, "trip_stops", found)


def track_trip_updates(
    state: State, *, trip_id: str | None = None, booking_id: str | None = None, update_scope: str = "critical"
) -> dict[str, Any]:
    kind, target = ("booking", booking_id) if trip_id is None else ("trip", trip_id)
    state.known(f"{kind}s", str(target))
    return tracking(str(target), target_kind=kind, scope=update_scope)


def replan_trip(
    state: State,
    *,
    trip_id: str,
    replanning_goal: str,
    disrupted_item_id: str | None = None,
    selected_alternative_stop_ids: list[str] | None = None,
    replacement_type: str | None = None,
) -> dict[str, Any]:
    """Answers the new plan; the trip itself stays as it was."""
    state.known("trips", trip_id)
    if disrupted_item_id is not None:
        _check_disrupted(state, trip_id, disrupted_item_id)
    stop_ids = selected_alternative_stop_ids or []
    state.known_all("trip_stops", stop_ids)
    return {
        "trip_id": trip_id,
        "replanning_goal": replanning_goal,
        "disrupted_item_id": disrupted_item_id,
        "selected_alternative_stop_ids": stop_ids,
        "replacement_type": replacement_type,
        "status": "replanned",
    }


def _check_disrupted(state: State, trip_id: str, item_id: str) -> None:
    if any(item_id in state.rows[table] for table in _BOOKABLE):
        return
    stop = state.rows["trip_stops"].get(item_id)
    if stop is None:
        raise Refusal(
            f"disrupted_item_id: {excerpt(item_id)} is no booking, offer or trip stop."
            " Leave it out when no single item is disrupted."
        )
    if stop["attributes"].get("trip_id") != trip_id:
        raise Refusal(
            f"disrupted_item_id: the trip stop {excerpt(item_id)} is not on the trip {excerpt(trip_id)};"
            " the attributes of a trip stop name its trip."
        )
