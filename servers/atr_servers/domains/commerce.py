"""Products, orders, shopping lists and subscriptions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from atr_data.episode import PersonaProfile
from atr_servers.domains.matching import by_rating, loose_match, moment, search_answer, whole_number
from atr_servers.domains.tables import Attributes, Column, Link, Refusal, Row, State, Table, attribute, own_id


def _order(product_id: str, attributes: Attributes, persona: PersonaProfile) -> Row:
    status = attributes.get("order_status") or attributes.get("delivery_status", "confirmed")
    return {
        "product_id": product_id,
        "quantity": 1,
        "total": attribute(attributes, "price", "number", 0.0),
        "status": attribute({"order_status": status}, "order_status", "text"),
        "shipping_address": persona.default_shipping_address,
        "payment_method": persona.default_payment_method,
    }


TABLES = (
    Table(
        "products",
        "product_id",
        "product",
        reference_types=("product",),
        columns=(
            own_id("name"),
            Column("price", "number", 0.0),
            Column("category", "text", "unknown"),
            Column("rating", "number?"),
        ),
        link=Link("orders", _order),
    ),
    Table(
        "subscriptions",
        "subscription_id",
        "subscription",
        reference_types=("subscription",),
        columns=(
            own_id("name"),
            Column("plan", "text", "standard"),
            Column("status", "text", "active"),
            Column("pause_until", "text?"),
            Column("price_per_period", "number?"),
        ),
    ),
    Table(
        "orders",
        "order_id",
        "order",
        "Ids of earlier orders stand in the attributes of products; place_order answers new ones.",
    ),
    Table("shopping_lists", "list_id", "shopping list", "build_shopping_list answers the ids."),
)

_PRODUCT_ORDERS: Mapping[str, Callable[[Row], float]] = {
    "price_asc": lambda row: row["price"],
    "price_desc": lambda row: -row["price"],
    "rating": by_rating,
}

_CHARGE_FLAGS: Mapping[str, tuple[str, ...]] = {
    "price_change": ("price_changed", "previous_price_per_period"),
    "usage": ("usage_anomaly", "usage_notes"),
    "tier": ("plan_changed", "tier_change"),
}


def search_products(
    state: State, *, category: str | None = None, budget: float | None = None, sort_by: str = "relevance"
) -> dict[str, Any]:
    found = [
        row
        for row in state.rows["products"].values()
        if loose_match(category, row["category"]) and (budget is None or row["price"] <= budget)
    ]
    return search_answer(state, "products", found, _PRODUCT_ORDERS.get(sort_by))


def compare_products(state: State, *, product_ids: list[str]) -> dict[str, Any]:
    table, rows = state.tables["products"], state.rows["products"]
    return {
        "comparison": [
            table.show(rows[i]) if i in rows else {"product_id": i, "error": "not found"} for i in product_ids
        ]
    }


def build_shopping_list(state: State, *, items: list[str], list_name: str | None = None) -> dict[str, Any]:
    list_id = state.add("shopping_lists", "LIST_", name=list_name, items=items)
    return {"list_id": list_id, "item_count": len(items)}


def place_order(
    state: State,
    *,
    product_id: str,
    quantity: int,
    shipping_address: str | None = None,
    payment_method: str | None = None,
) -> dict[str, Any]:
    product = state.known("products", product_id)
    total = _total(product["price"], quantity)
    order_id = state.add(
        "orders",
        f"ORD_{product_id[:10]}_",
        product_id=product_id,
        quantity=quantity,
        total=total,
        status="confirmed",
        shipping_address=shipping_address or state.persona.default_shipping_address,
        payment_method=payment_method or state.persona.default_payment_method,
    )
    return {
        "order_id": order_id,
        "product_id": product_id,
        "quantity": quantity,
        "total": total,
        "status": "confirmed",
    }


def _total(price: float, quantity: int) -> float:
    total = round(price * quantity, 2)
    if not math.isfinite(total):
        raise Refusal(f"quantity: {quantity} pieces are more than can be counted")
    return total


def modify_order(state: State, *, order_id: str, field: str, new_value: str) -> dict[str, Any]:
    value = whole_number(new_value, "new_value") if field == "quantity" else new_value
    return state.modify("orders", order_id, field, value)


def cancel_order(state: State, *, order_id: str) -> dict[str, Any]:
    return state.set_status("orders", order_id, "cancelled")


def track_order(state: State, *, order_id: str, update_scope: str | None = None) -> dict[str, Any]:
    status = state.known("orders", order_id)["status"]
    return {"order_id": order_id, "status": status, "update_scope": update_scope}


def return_order(state: State, *, order_id: str, resolution_type: str | None = None) -> dict[str, Any]:
    status = f"return_requested_{resolution_type}" if resolution_type else "return_requested"
    return {**state.set_status("orders", order_id, status), "resolution": resolution_type}


def review_recurring_charges(state: State, *, focus: str = "all") -> dict[str, Any]:
    flags = _CHARGE_FLAGS.get(focus)
    table = state.tables["subscriptions"]
    found = [
        table.show(row)
        for row in state.rows["subscriptions"].values()
        if flags is None or any(row["attributes"].get(flag) for flag in flags)
    ]
    return {"focus": focus, "count": len(found), "subscriptions": found}


def pause_subscription(
    state: State, *, subscription_id: str, pause_until: str | None = None
) -> dict[str, Any]:
    until = None if pause_until is None else moment(pause_until, "pause_until")
    state.known("subscriptions", subscription_id)["pause_until"] = until
    return state.set_status("subscriptions", subscription_id, "paused")


def resume_subscription(state: State, *, subscription_id: str) -> dict[str, Any]:
    state.known("subscriptions", subscription_id)["pause_until"] = None
    return state.set_status("subscriptions", subscription_id, "active")


def change_subscription_plan(state: State, *, subscription_id: str, new_plan: str) -> dict[str, Any]:
    state.known("subscriptions", subscription_id)["plan"] = new_plan
    return {"subscription_id": subscription_id, "plan": new_plan}


def cancel_subscription(state: State, *, subscription_id: str) -> dict[str, Any]:
    return state.set_status("subscriptions", subscription_id, "cancelled")
