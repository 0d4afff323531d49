"""The ontology that ships: its shape, and what its wording owes to a reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from atr_ontology import DOMAINS, Domain, Guard, Tool, load_ontology

ONTOLOGY = load_ontology()
ENVIRONMENT_TOOLS = [
    *ONTOLOGY.base_tools,
    *(tool for domain in ONTOLOGY.domains.values() for tool in domain.tools),
]
ALL_TOOLS = [*ENVIRONMENT_TOOLS, *ONTOLOGY.session_tools]

# The 74 tools of the published benchmark, with get_user_confirmation.
PUBLISHED = {
    "commerce": """
        search_products compare_products build_shopping_list place_order modify_order cancel_order
        track_order return_order review_recurring_charges pause_subscription resume_subscription
        change_subscription_plan cancel_subscription
    """,
    "reservation": """
        search_restaurants book_restaurant modify_restaurant_reservation cancel_restaurant_reservation
        search_events book_event_ticket modify_event_ticket cancel_event_ticket search_service_providers
        book_service_appointment modify_service_appointment cancel_service_appointment
        track_reservation_updates
    """,
    "travel": """
        search_destinations shortlist_destinations plan_trip search_trip_stops search_flights
        search_hotels search_ground_transport book_flight book_hotel book_ground_transport
        modify_flight_booking modify_hotel_booking cancel_flight_booking cancel_hotel_booking
        cancel_ground_transport_booking track_trip_updates replan_trip
    """,
    "communication": """
        search_messages list_labels list_message_folders set_message_priority archive_messages
        draft_message send_message label_messages send_draft
    """,
    "scheduling": """
        list_events check_conflicts create_event reschedule_event modify_event respond_to_event_invite
        cancel_event set_reminder track_event_updates find_alternative_slots
    """,
    "workspace": """
        list_files list_trackers list_file_folders search_documents classify_files move_files
        archive_files delete_files create_document update_document update_tracker
    """,
}

# Which tools must stand in a domain's policy next to an id that has no search of its own.
POLICY_FACTS = {
    "commerce": {
        "order_id": ("search_products", "place_order"),
        "subscription_id": ("review_recurring_charges",),
    },
    "reservation": {
        "reservation_id": ("book_restaurant",),
        "booking_id": ("book_event_ticket",),
        "appointment_id": ("book_service_appointment",),
        "track_reservation_updates": ("exactly one of", "reservation_id", "booking_id", "appointment_id"),
    },
    "travel": {
        "selected_stop_ids": ("search_trip_stops",),
        "selected_alternative_stop_ids": ("search_trip_stops",),
        "booking_id": ("book_flight", "book_hotel", "book_ground_transport"),
        "trip_id": ("plan_trip",),
        "track_trip_updates": ("exactly one of", "trip_id", "booking_id"),
    },
    "communication": {
        "label_ids": ("list_labels",),
        "message_ids": ("search_messages",),
        "thread_id": ("search_messages",),
        "folder_id": ("list_message_folders",),
        "draft_id": ("draft_message",),
        "draft_message": ("send_message", "at least one of", "recipient", "thread_id"),
    },
    "scheduling": {
        "event_id": ("list_events", "check_conflicts", "create_event"),
        "target_id": ("event_id",),
    },
    "workspace": {
        "file_ids": ("list_files",),
        "folder_id": ("list_file_folders",),
        "tracker_id": ("list_trackers",),
        "document_id": ("search_documents", "create_document"),
    },
}

UNWANTED = re.compile(
    r"\b(benchmark|tests?|gold|scor(e[sd]?|ers?|ing)|rules?|standing|prefer(s|red|ences?)?|best|better|recommend(ed|s)?)\b",
    re.IGNORECASE,
)


def by_name(tool: Tool) -> str:
    return tool.name


def texts(tool: Tool) -> Iterator[str]:
    yield tool.title
    yield tool.description
    yield from (p.description for p in tool.parameters)


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def published(tools: Iterable[Tool]) -> list[Tool]:
    return [tool for tool in tools if tool.since == 1]


def test_the_published_seventy_four_tools_are_these() -> None:
    names = {
        name: [tool.name for tool in published(domain.tools)] for name, domain in ONTOLOGY.domains.items()
    }
    assert names == {domain: tools.split() for domain, tools in PUBLISHED.items()}
    assert tuple(names) == DOMAINS
    assert [t.name for t in ONTOLOGY.base_tools] == ["get_user_confirmation"]
    assert len(published(ENVIRONMENT_TOOLS)) == 74


def test_the_version_is_that_of_the_latest_tool_and_later_tools_stand_last() -> None:
    assert ONTOLOGY.version >= max(tool.since for tool in ALL_TOOLS)
    for domain in ONTOLOGY.domains.values():
        since = [tool.since for tool in domain.tools]
        assert since == sorted(since)


def test_no_two_tools_share_a_name_or_a_title() -> None:
    assert len({t.name for t in ALL_TOOLS}) == len(ALL_TOOLS)
    assert len({t.title for t in ALL_TOOLS}) == len(ALL_TOOLS)


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=by_name)
def test_names_fit_every_client(tool: Tool) -> None:
    for name in (tool.name, *(p.name for p in tool.parameters)):
        assert re.fullmatch(r"[a-z0-9_]{1,39}", name)


def test_order_and_structure_are_those_of_the_published_interface(conformance_dir: Path) -> None:
    path = conformance_dir.parent / "spec" / "tools_ontology.yaml"
    if not path.is_file():
        pytest.skip("no published interface here")
    theirs = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert list(theirs["domains"]) == list(ONTOLOGY.domains)
    assert [interface(t) for t in ONTOLOGY.base_tools] == published_interface(theirs["base"])
    for name, group in theirs["domains"].items():
        assert [interface(t) for t in published(ONTOLOGY.domain(name).tools)] == published_interface(group)


def interface(tool: Tool) -> tuple[Any, ...]:
    guard = (tool.guard.kind, tool.guard.parameters) if tool.guard else None
    parameters = [(p.name, p.type, p.required, p.enum, p.default) for p in tool.parameters]
    return tool.name, tool.kind, guard, parameters


def published_interface(group: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (
            tool["name"],
            tool["kind"],
            next(((kind, tuple(names)) for kind, names in tool.get("guard", {}).items()), None),
            [
                (p["name"], p["type"], p["required"], tuple(p.get("enum", ())), p.get("default"))
                for p in tool["parameters"]
            ],
        )
        for tool in group["tools"]
    ]


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=by_name)
def test_every_tool_and_parameter_is_described_in_more_than_its_name(tool: Tool) -> None:
    assert len(tool.description) >= 20
    assert len(re.findall(r"\.(?= |$)", tool.description)) <= 4, "more than four sentences"
    for name, text in [(tool.name, tool.description), *((p.name, p.description) for p in tool.parameters)]:
        assert text == " ".join(text.split())
        assert text.endswith(".")
        assert len(set(words(text)) - set(name.split("_"))) >= 3, f"{tool.name}.{name}"


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=by_name)
def test_optional_parameters_say_what_leaving_them_out_means(tool: Tool) -> None:
    guarded = tool.guard.parameters if tool.guard else ()
    for parameter in tool.parameters:
        if parameter.required or parameter.name in guarded or parameter.name == "entry_id":
            continue
        assert "Left out" in parameter.description, parameter.name
        if parameter.default not in (None, ""):
            default = str(parameter.default).lower()
            assert re.search(rf"Left out: {default}\.$", parameter.description), parameter.name


@pytest.mark.parametrize("tool", ENVIRONMENT_TOOLS, ids=by_name)
def test_dates_and_times_say_their_format(tool: Tool) -> None:
    times = {p.name: p.description for p in tool.parameters if p.type in ("date", "datetime")}
    for text in times.values():
        same = re.search(r"in the same form as (\w+)", text)
        said = times[same[1]] if same else text
        assert "ISO 8601" in said
        assert "`2026-03-05`" in said


@pytest.mark.parametrize("tool", [t for t in ENVIRONMENT_TOOLS if t.guard], ids=by_name)
def test_a_guard_stands_in_the_description(tool: Tool) -> None:
    assert tool.guard is not None
    assert tool.guard.kind.replace("_", " ") in tool.description
    for name in tool.guard.parameters:
        assert name in tool.description
        assert tool.parameter(name) is not None


def test_four_tools_have_a_guard() -> None:
    assert {t.name: t.guard for t in ENVIRONMENT_TOOLS if t.guard} == {
        "track_reservation_updates": Guard(
            "exactly_one_of", ("reservation_id", "booking_id", "appointment_id")
        ),
        "track_trip_updates": Guard("exactly_one_of", ("trip_id", "booking_id")),
        "draft_message": Guard("at_least_one_of", ("recipient", "thread_id")),
        "send_message": Guard("at_least_one_of", ("recipient", "thread_id")),
    }


def test_explicit_null_is_special_for_seven_parameters() -> None:
    policies = {(t.name, p.name): p.null for t in ALL_TOOLS for p in t.parameters if p.null != "omit"}
    assert policies == {
        ("plan_trip", "include_daily_breakdown"): "error",
        ("plan_trip", "include_stopovers"): "error",
        ("plan_trip", "include_budget_summary"): "error",
        ("review_recurring_charges", "focus"): "error",
        ("track_trip_updates", "update_scope"): "error",
        ("track_event_updates", "update_scope"): "error",
        ("track_reservation_updates", "update_scope"): "echo",
    }


def test_an_empty_text_is_nothing_in_filters_orders_and_the_announced_parameters() -> None:
    filters = {
        ("search_messages", "folder"),
        ("list_events", "calendar"),
        ("list_files", "file_type"),
        ("search_documents", "doc_type"),
        ("get_user_confirmation", "target_params"),
    }
    orders = {(t.name, p.name) for t in ALL_TOOLS for p in t.parameters if p.name == "sort_by"}
    assert len(orders) == 6
    assert {
        (t.name, p.name) for t in ALL_TOOLS for p in t.parameters if p.empty == "omit"
    } == filters | orders


@pytest.mark.parametrize("tool", ENVIRONMENT_TOOLS, ids=by_name)
def test_ids_are_texts_and_never_enumerated(tool: Tool) -> None:
    for parameter in tool.parameters:
        if parameter.names_object:
            assert parameter.type == ("array[string]" if parameter.name.endswith("_ids") else "string")
            assert parameter.enum == ()


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=by_name)
def test_exactly_enum_parameters_list_values_and_a_default_is_one_of_them(tool: Tool) -> None:
    for parameter in tool.parameters:
        assert bool(parameter.enum) == (parameter.type == "enum")
        if parameter.enum and parameter.default is not None:
            assert parameter.default in parameter.enum


@pytest.mark.parametrize("domain", ONTOLOGY.domains.values(), ids=lambda d: d.name)
def test_every_id_is_described_by_the_tools_that_return_it(domain: Any) -> None:
    names = {t.name for t in domain.tools}
    for tool in domain.tools:
        for parameter in tool.parameters:
            if parameter.names_object and (tool.name, parameter.name) != ("update_tracker", "entry_id"):
                named = set(re.findall(r"[a-z_]+", parameter.description))
                assert named & (names - {tool.name}), f"{tool.name}.{parameter.name}"


@pytest.mark.parametrize("domain", ONTOLOGY.domains.values(), ids=lambda d: d.name)
def test_objects_are_found_and_named_by_tools_of_their_domain(domain: Domain) -> None:
    tools = {tool.name: tool for tool in domain.tools}
    parameters = {p.name: p for tool in domain.tools for p in tool.parameters}
    for kind in domain.objects.values():
        assert re.fullmatch(r"[a-z]{3}", kind.prefix)
        assert all(parameters[name].names_object for name in kind.parameters)
        for search, told in kind.searches.items():
            assert tools[search].kind == "read"
            assert {tools[search].parameter(name) for name in told}.isdisjoint({None})
        assert (kind.link is None) == (kind.link_prefix is None)
        assert kind.link is None or parameters[kind.link].names_object


@pytest.mark.parametrize("domain", ONTOLOGY.domains.values(), ids=lambda d: d.name)
def test_rivals_act_and_stand_in_one_row_and_choices_fill_in_for_whole_rows(domain: Domain) -> None:
    acting = [tool.name for tool in domain.tools if tool.kind == "write"]
    in_rows = [name for row in domain.rivals for name in row]
    assert len(set(in_rows)) == len(in_rows)
    assert set(in_rows) | {name for row in domain.choices for name in row} <= set(acting)
    assert all(len(row) > 1 for row in (*domain.rivals, *domain.choices))
    own_choices = {name for row in domain.choices if row not in domain.rivals for name in row}
    assert all(own_choices.isdisjoint(row) or row not in domain.choices for row in domain.rivals)


@pytest.mark.parametrize(
    ("parameter", "attributes", "named"),
    [
        ("product_id", {}, "prd_1"),
        ("order_id", {"order_id": "ord_1"}, "ord_1"),
        ("order_id", {}, None),
        ("order_id", {"order_id": ""}, None),
        ("subscription_id", {"subscription_id": "sub_1"}, None),
    ],
)
def test_a_parameter_names_an_object_or_what_is_linked_to_it(
    parameter: str, attributes: dict[str, Any], named: str | None
) -> None:
    product = ONTOLOGY.objects("commerce")["product"]
    assert product.id_for(parameter, "prd_1", attributes) == named


@pytest.mark.parametrize("domain", ONTOLOGY.domains.values(), ids=lambda d: d.name)
def test_wording_names_no_tool_of_another_domain(domain: Any) -> None:
    foreign = {t.name for t in ALL_TOOLS} - {t.name for t in ONTOLOGY.offered(domain.name)}
    for text in (domain.policy, *(text for tool in domain.tools for text in texts(tool))):
        assert not foreign & set(re.findall(r"[a-z_]+", text))


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_policy_says_where_the_ids_come_from(domain: str) -> None:
    entries = re.split(r"\n- ", ONTOLOGY.domain(domain).policy)
    for subject, sources in POLICY_FACTS[domain].items():
        said = " ".join(e for e in entries if subject in re.findall(r"[a-z_]+", e))
        assert all(source in " ".join(said.split()) for source in sources), subject


def test_wording_neither_hints_at_a_choice_nor_at_how_calls_are_judged() -> None:
    policies = [text for d in ONTOLOGY.domains.values() for text in (d.description, d.policy)]
    for text in (*policies, *(text for tool in ALL_TOOLS for text in texts(tool))):
        assert UNWANTED.search(text) is None, text


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=by_name)
def test_reads_are_never_marked_destructive(tool: Tool) -> None:
    if tool.kind == "read":
        assert not tool.destructive


def test_writes_that_only_add_are_the_ones_not_marked_destructive() -> None:
    adding = {t.name for t in published(ENVIRONMENT_TOOLS) if t.kind == "write" and not t.destructive}
    assert adding == {
        "build_shopping_list",
        "place_order",
        "book_restaurant",
        "book_event_ticket",
        "book_service_appointment",
        "shortlist_destinations",
        "plan_trip",
        "replan_trip",
        "book_flight",
        "book_hotel",
        "book_ground_transport",
        "draft_message",
        "label_messages",
        "create_event",
        "set_reminder",
        "classify_files",
        "create_document",
        "update_document",
    }


def test_writes_that_add_or_send_once_more_are_the_ones_not_marked_idempotent() -> None:
    repeating = {t.name for t in published(ENVIRONMENT_TOOLS) if t.kind == "write" and not t.idempotent}
    assert repeating == {
        "build_shopping_list",
        "place_order",
        "book_restaurant",
        "book_event_ticket",
        "book_service_appointment",
        "shortlist_destinations",
        "plan_trip",
        "book_flight",
        "book_hotel",
        "book_ground_transport",
        "draft_message",
        "send_message",
        "send_draft",
        "create_event",
        "set_reminder",
        "create_document",
        "update_document",
        "update_tracker",
    }


def test_base_tools_are_offered_first_in_every_domain() -> None:
    for name, domain in ONTOLOGY.domains.items():
        assert ONTOLOGY.offered(name) == (*ONTOLOGY.base_tools, *domain.tools)


def test_session_tools_are_not_environment_tools() -> None:
    assert [t.name for t in ONTOLOGY.session_tools] == ["send_to_user", "finish_session"]
    for tool in ONTOLOGY.session_tools:
        assert ONTOLOGY.tool(tool.name) is None
        assert ONTOLOGY.session_tool(tool.name) is tool
    assert [p.name for p in ONTOLOGY.session_tool("send_to_user").parameters] == ["output", "reason"]
    assert all(p.required for p in ONTOLOGY.session_tool("send_to_user").parameters)
    assert ONTOLOGY.session_tool("finish_session").parameters == ()


def test_speaking_to_the_user_says_how_and_never_lists_reasons() -> None:
    tool = ONTOLOGY.session_tool("send_to_user")
    assert "only way to reach" in tool.description
    assert "plain text" in tool.description
    assert "not combined with other calls" in tool.description
    reason = tool.parameter("reason")
    assert reason is not None
    assert not re.search(r"[,;:/(]|\bor\b|e\.g|such as", reason.description)


@pytest.mark.parametrize("tool", ENVIRONMENT_TOOLS, ids=by_name)
def test_a_tool_is_found_by_its_name(tool: Tool) -> None:
    assert ONTOLOGY.tool(tool.name) is tool


def test_an_unknown_tool_is_none() -> None:
    assert ONTOLOGY.tool("fly_to_the_moon") is None


def test_a_parameter_is_found_by_its_name() -> None:
    (tool,) = ONTOLOGY.base_tools
    assert tool.parameter("target_tool") is tool.parameters[0]
    assert tool.parameter("missing") is None


def test_an_unknown_domain_names_the_six() -> None:
    with pytest.raises(KeyError) as caught:
        ONTOLOGY.domain("banking")
    assert "banking" in str(caught.value)
    assert all(name in str(caught.value) for name in DOMAINS)
