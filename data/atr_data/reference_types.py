"""The kinds of objects a session's world may hold, per domain, and how each is addressed in a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReferenceType:
    """`prefix` starts the opaque ids of this type. `parameters` are the tool parameters that take such an id.

    `link` is the attribute that names a second object made from the same reference (an order made from a
    product); `link_parameters` take the id of that second object.
    """

    prefix: str
    parameters: tuple[str, ...]
    link: str | None = None
    link_parameters: tuple[str, ...] = ()


REFERENCE_TYPES: Mapping[str, Mapping[str, ReferenceType]] = {
    "commerce": {
        "product": ReferenceType("prd", ("product_id", "product_ids"), "order_id", ("order_id",)),
        "subscription": ReferenceType("sub", ("subscription_id",)),
    },
    "reservation": {
        "restaurant": ReferenceType("rst", ("restaurant_id",), "reservation_id", ("reservation_id",)),
        "event": ReferenceType("evn", ("event_id",), "booking_id", ("booking_id",)),
        "service_provider": ReferenceType("svc", ("provider_id",), "appointment_id", ("appointment_id",)),
    },
    "travel": {
        "destination": ReferenceType("dst", ("destination_ids",)),
        "flight_offer": ReferenceType("flt", ("flight_offer_id", "disrupted_item_id")),
        "hotel_offer": ReferenceType("hot", ("hotel_offer_id", "disrupted_item_id")),
        "transport_offer": ReferenceType("gnd", ("transport_offer_id", "disrupted_item_id")),
        "trip_stop": ReferenceType(
            "stp",
            ("selected_stop_ids", "disrupted_item_id", "selected_alternative_stop_ids"),
            "trip_id",
            ("trip_id",),
        ),
    },
    "communication": {
        "message": ReferenceType("msg", ("message_ids",), "thread_id", ("thread_id",)),
        "folder": ReferenceType("fld", ("folder_id",)),
        "label": ReferenceType("lbl", ("label_ids",)),
    },
    "scheduling": {
        "calendar_event": ReferenceType("evt", ("event_id", "target_id")),
        "event": ReferenceType("evt", ("event_id", "target_id")),
    },
    "workspace": {
        "file": ReferenceType("fil", ("file_ids",)),
        "document": ReferenceType("doc", ("document_id",)),
        "tracker": ReferenceType("trk", ("tracker_id",)),
        "folder": ReferenceType("fld", ("folder_id",)),
    },
}

LINK_PREFIXES: Mapping[str, str] = {
    "order_id": "ord",
    "reservation_id": "rsv",
    "booking_id": "bkg",
    "appointment_id": "apt",
    "trip_id": "trp",
    "thread_id": "thr",
}
"""Linking attribute to the prefix of the ids it holds."""


def reference_parameters(domain: str) -> frozenset[str]:
    """The tool parameters of a domain that take ids of a session's objects."""
    types = REFERENCE_TYPES.get(domain, {}).values()
    return frozenset(name for kind in types for name in (*kind.parameters, *kind.link_parameters))
