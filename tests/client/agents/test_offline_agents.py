"""The offline agents: how they read, choose, remember, fill in and ask."""

from __future__ import annotations

from typing import Any

import pytest

from atr_client.agents.amounts import Bound, bounds, ceiling, count_near, moments
from atr_client.agents.asking import ENOUGH, next_topic, topics
from atr_client.agents.choosing import best_tool, best_value, described_tool, obvious_tool
from atr_client.agents.filling import action_arguments, facts, search_arguments
from atr_client.agents.objects import best_rows, within_limits
from atr_client.agents.options import described_values, value_by_description
from atr_client.agents.reading import Row, Statement, View
from atr_client.agents.remembering import Memory
from atr_client.models.base import ToolSpec
from atr_data.english.lexicon import lexicon, when_and_what
from atr_data.english.words import AGENTS, dictionary
from atr_data.episode import TestSession
from atr_data.required_calls import complete_arguments
from atr_data.trajectory import Message
from atr_ontology import DOMAINS, input_schema, load_ontology
from atr_user_sim.offline import offline_router


def tools_of(domain: str) -> list[ToolSpec]:
    return [ToolSpec(t.name, t.description, input_schema(t)) for t in load_ontology().offered(domain)]


def tool(name: str) -> ToolSpec:
    known = load_ontology().tool(name)
    assert known is not None
    return ToolSpec(name, known.description, input_schema(known))


class TestWording:
    def test_stems_fold_endings_and_drop_small_words(self) -> None:
        assert AGENTS.stems("The planned trips, and planning a trip") == ["plan", "trip", "plan", "trip"]
        assert AGENTS.stems("Quietly tidied libraries") == ["quiet", "tidy", "library"]

    @pytest.mark.parametrize(
        ("text", "limit"),
        [
            ("keep it under $35", 35.0),
            ("$420 or less, please", 420.0),
            ("a budget of 1,200 dollars", 1200.0),
            ("on 2026-05-01 at 19:00", None),
            ("at most 4 hours by car", None),
        ],
    )
    def test_price_limits_are_read(self, text: str, limit: float | None) -> None:
        assert ceiling(text) == limit

    def test_limits_keep_their_side_and_their_unit(self) -> None:
        assert bounds("at most 4 hours, 12 oz or more, no less than $30") == [
            Bound("at_most", 4.0, "hour"),
            Bound("at_least", 30.0, ""),
            Bound("at_least", 12.0, "oz"),
        ]

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("on 2026-07-18 at 7:00pm", ["2026-07-18T19:00"]),
            ("2026-07-18T09:30:00 sharp", ["2026-07-18T09:30:00"]),
            ("from 2026-07-18 to 2026-07-20", ["2026-07-18", "2026-07-20"]),
            ("on 2026-07-18, 18:15", ["2026-07-18T18:15"]),
            ("some day", []),
        ],
    )
    def test_moments_are_read(self, text: str, found: list[str]) -> None:
        assert moments(text) == found

    def test_counts_are_read_near_their_noun(self) -> None:
        assert count_near("three tickets for two adults", ["adult"]) == 2
        assert count_near("a table for four", ["people"]) == 4
        assert count_near("a table", ["people"]) is None


def meanings_in(text: str) -> dict[str, int]:
    return {name: sign for name, sign in lexicon("topics").leaning(text).items() if name.startswith("~")}


class TestSenses:
    @pytest.mark.parametrize(
        ("text", "meaning", "sign"),
        [
            ("a hushed corner", "~quiet", 1),
            ("nothing noisy", "~quiet", 1),
            ("a peaceful inn rather than a noisy one", "~quiet", 2),
            ("never a chain", "~local", 1),
            ("an unheated porch", "~warm", -1),
            ("no lift", "~lift", -1),
            ("a valley with no signal", "~offline", 1),
            ("kept in the cloud", "~offline", -1),
            ("I prefer quiet over lively", "~quiet", 2),
        ],
    )
    def test_words_stand_for_meanings_or_against_them(self, text: str, meaning: str, sign: int) -> None:
        assert meanings_in(text)[meaning] == sign

    def test_over_compares_only_behind_a_preference(self) -> None:
        assert lexicon("topics").leaning("bent over paperwork")["paperwork"] == 1
        assert lexicon("topics").leaning("I like tea over milk")["milk"] == -1

    def test_what_is_turned_away_from_ends_with_its_clause(self) -> None:
        leans = lexicon("topics").leaning("no gravel, tarmac")
        assert (leans["gravel"], leans["tarmac"]) == (-1, 1)

    def test_a_word_inside_an_expression_is_passed_over(self) -> None:
        assert lexicon("tools").leaning("send it back")["=return_order"] == 1

    @pytest.mark.parametrize(
        ("statement", "opening"),
        [
            ("When guests come, I cook.", "When guests come,"),
            ("For canoes I pay more.", "For canoes "),
            ("I pay more for canoes.", ""),
        ],
    )
    def test_the_opening_clause_is_told_from_the_decision(self, statement: str, opening: str) -> None:
        assert when_and_what(statement) == (opening, statement.removeprefix(opening))

    def test_every_value_and_tool_of_the_dictionary_exists(self) -> None:
        known = [t for domain in DOMAINS for t in load_ontology().offered(domain)]
        values = {value for t in known for p in t.parameters for value in p.enum or ()}
        assert set(dictionary()["values"]) <= values
        assert set(dictionary()["tools"]) <= {t.name for t in known}
        scaled = {name for side in dictionary()["scales"].values() for name in side}
        assert scaled <= set(dictionary()["topics"])


KETTLES = [
    Row({"product_id": "a", "name": "Blue kettle", "price": 20, "rating": 4.9}),
    Row({"product_id": "b", "name": "Copper kettle", "price": 30, "rating": 4.1}),
    Row({"product_id": "c", "name": "Copper kettle deluxe", "price": 90, "rating": 5.0}),
]


def first(rows: list[Row], request: str, statement: str = "") -> Any:
    return next(iter(best_rows(rows, request, statement)[0].fields.values()))


class TestObjects:
    def test_objects_are_ranked_by_limits_then_statement_then_rating(self) -> None:
        ranked = best_rows(KETTLES, "a kettle under $50", "I like copper in my kitchen.")
        assert [row.fields["product_id"] for row in ranked] == ["b", "a"]
        assert first(KETTLES, "a kettle") == "c"

    def test_a_statement_is_met_by_other_words_of_the_same_meaning(self) -> None:
        rooms = [
            Row({"hotel_offer_id": "a", "entry": "desk staffed until ten", "rating": 4.9}),
            Row({"hotel_offer_id": "b", "entry": "lockbox at the gate", "rating": 4.0}),
        ]
        assert first(rooms, "a room", "I come late and want to let myself in.") == "b"

    def test_what_a_statement_turns_away_from_is_passed_over(self) -> None:
        huts = [
            Row({"hotel_offer_id": "a", "access": "two stairs and a lift", "rating": 4.9}),
            Row({"hotel_offer_id": "b", "access": "ramp from the car park", "rating": 3.2}),
        ]
        assert first(huts, "a room", "No stairs for my knees.") == "b"

    def test_a_superlative_is_met_by_a_number(self) -> None:
        clinics = [
            Row({"provider_id": "a", "distance_km": 9.0, "rating": 4.9}),
            Row({"provider_id": "b", "distance_km": 1.5, "rating": 4.0}),
            Row({"provider_id": "c", "distance_km": 4.0, "rating": 4.8}),
        ]
        assert first(clinics, "a dentist", "Whoever is closest.") == "b"

    def test_of_equals_the_one_without_a_reservation_is_taken(self) -> None:
        shops = [
            Row({"provider_id": "a", "visitors": "may watch, weekdays only", "rating": 4.9}),
            Row({"provider_id": "b", "visitors": "may watch", "rating": 4.0}),
            Row({"provider_id": "c", "visitors": "drop-off", "rating": 4.0}),
        ]
        assert first(shops, "a tune-up", "I stay beside the bench.") == "b"

    def test_words_that_only_say_when_a_statement_holds_hardly_count(self) -> None:
        places = [
            Row({"restaurant_id": "a", "note": "harbor view, lively", "rating": 4.0}),
            Row({"restaurant_id": "b", "note": "cellar, quiet", "rating": 4.0}),
        ]
        assert first(places, "dinner", "After work at the harbor, I need a hushed room.") == "b"

    def test_a_field_that_is_denied_is_not_there(self) -> None:
        rooms = [
            Row({"hotel_offer_id": "a", "breakfast": "none", "rating": 4.9}),
            Row({"hotel_offer_id": "b", "breakfast": True, "rating": 4.0}),
        ]
        assert first(rooms, "a room", "I need breakfast to get going.") == "b"
        assert rooms[0].spoken == "no breakfast. rating: 4.9"

    @pytest.mark.parametrize(
        ("request_", "kept"),
        [
            ("at least $25", ["b", "c"]),
            ("$30 or less, or $25 or more", ["b"]),
            ("under $5", ["a", "b", "c"]),
            ("the copper kettle", ["b"]),
        ],
    )
    def test_what_the_request_states_narrows_the_choice(self, request_: str, kept: list[str]) -> None:
        found = within_limits(KETTLES, request_)
        assert [row.fields["product_id"] for row in found] == kept

    def test_limits_with_units_are_read_against_the_field_of_that_unit(self) -> None:
        rows = [Row({"stop_id": "a", "walk_minutes": 40}), Row({"stop_id": "b", "walk_minutes": 15})]
        assert within_limits(rows, "up to 20 minutes on foot") == [rows[1]]

    def test_a_room_must_hold_everybody(self) -> None:
        rows = [Row({"id": "a", "max_guests": 2}), Row({"id": "b", "max_guests": 4})]
        assert within_limits(rows, "one room for three guests") == [rows[1]]

    def test_a_date_may_be_stated_as_a_limit(self) -> None:
        rows = [
            Row({"message_id": "a", "sent": "2026-07-01"}),
            Row({"message_id": "b", "sent": "2026-07-09T08:00"}),
            Row({"message_id": "c", "sent": "2026-07-20"}),
        ]
        assert within_limits(rows, "one from 2026-07-09 or later") == rows[1:]
        assert within_limits(rows, "one before 2026-07-09") == rows[:1]
        assert within_limits(rows, "the one of 2026-07-09") == [rows[1]]


class TestDescribedValues:
    PLAN = Row(
        {
            "subscription_id": "s",
            "name": "Loft",
            "tiers": ["basic: by mail", "pro: quiet room", "premium: noisy hall", "gold: quiet room"],
        }
    )
    VALUES = ("basic", "pro", "premium", "enterprise")

    def test_only_values_that_can_be_chosen_are_described(self) -> None:
        found = described_values(self.PLAN, self.VALUES)
        assert found == {"basic": "by mail", "pro": "quiet room", "premium": "noisy hall"}

    def test_one_described_value_is_no_choice(self) -> None:
        assert described_values(Row({"tiers": ["basic: by mail"], "note": "pro: x"}), self.VALUES) == {}

    def test_the_description_that_a_statement_leans_to_decides(self) -> None:
        assert value_by_description(self.PLAN, self.VALUES, "I need it hushed.", "") == "pro"
        assert value_by_description(self.PLAN, self.VALUES, "I rise early.", "") is None

    def test_what_the_chosen_object_says_goes_before_the_name_of_a_value(self) -> None:
        memory = Memory([Statement("Where nobody shouts, somewhere calm.", "")], "Set the plan.", [])
        arguments = action_arguments(tool("change_subscription_plan"), memory, [self.PLAN])
        assert arguments == {"subscription_id": "s", "new_plan": "pro"}


class TestChoosing:
    def test_the_request_names_the_tool(self) -> None:
        chosen = obvious_tool(tools_of("reservation"), "Please book dinner for four at a good place")
        assert chosen is not None
        assert chosen.name == "book_restaurant"

    def test_a_statement_decides_between_rivals(self) -> None:
        asked = "Reply to the plumber that Friday works."
        statement = "I like to look over a draft first."
        mail = [Row({"message_id": "m", "thread_id": "t"})]
        without = best_tool(tools_of("communication"), asked, "", mail)
        with_rule = best_tool(tools_of("communication"), asked, statement, mail)
        assert (without and without.name, with_rule and with_rule.name) == ("send_message", "draft_message")

    def test_a_statement_never_leads_away_from_the_rivals(self) -> None:
        chosen = best_tool(tools_of("communication"), "Reply to the plumber.", "I always label and tag.")
        assert chosen is not None
        assert chosen.name == "send_message"

    def test_a_tool_needs_its_objects(self) -> None:
        chosen = obvious_tool(tools_of("workspace"), "Delete the old scans.", [])
        assert chosen is None or chosen.name != "delete_files"

    def test_enum_values_are_recognised_by_what_people_call_them(self) -> None:
        assert best_value(tool("book_flight"), "seat_preference", "I want to look outside") == "window"
        assert best_value(tool("return_order"), "resolution_type", "Money back, always") == "refund"
        assert (
            best_value(tool("return_order"), "resolution_type", "A replacement, not money back") == "exchange"
        )
        assert best_value(tool("book_flight"), "seat_preference", "Nothing of the kind") is None

    def test_a_tool_is_known_by_how_it_is_described(self) -> None:
        found = described_tool(tools_of("scheduling"), "Please try this: suggest other times for one event.")
        assert found is not None
        assert found.name == "find_alternative_slots"
        assert described_tool(tools_of("scheduling"), "Hm.") is None


class TestRemembering:
    def test_of_two_statements_the_one_about_the_case_decides(self) -> None:
        memory = Memory(
            [
                Statement("For concerts I like an aisle seat, easy out.", ""),
                Statement("For long flights give me the window.", ""),
            ],
            "Book the long flight to Oslo.",
            tools_of("travel"),
        )
        said = memory.on_value(tool("book_flight"), "seat_preference")
        assert said == "For long flights give me the window."

    def test_what_a_statement_answered_tells_what_it_is_about(self) -> None:
        known = topics(tools_of("travel"))
        asked = next(topic for topic in known if "book_hotel" in topic.tools)
        other = next(topic for topic in known if "book_flight" in topic.tools)
        rows = [
            Row({"hotel_offer_id": "a", "style": "quiet"}),
            Row({"hotel_offer_id": "b", "style": "handmade furniture"}),
        ]
        memory = Memory(
            [Statement("Handmade ones.", other.question), Statement("Hushed ones.", asked.question)],
            "One night in Oslo.",
            tools_of("travel"),
        )
        assert memory.on_object(tool("book_hotel"), rows) == "Hushed ones."

    def test_a_statement_that_decides_nothing_is_no_help(self) -> None:
        memory = Memory([Statement("I rise early.", "")], "Book a flight.", tools_of("travel"))
        assert memory.on_value(tool("book_flight"), "seat_preference") == ""

    @pytest.mark.parametrize(
        ("statement", "asks"),
        [
            ("Run new suppliers past me first.", True),
            ("Nothing leaves the house until I nod.", True),
            ("I want to approve it before it is booked with me.", True),
            ("Get my okay for anything on stilts.", True),
            ("It stays unpaid until I've had a look and agreed.", True),
            ("With new neighbours, hold it.", True),
            ("I get the last word on colours.", True),
            ("Book it straight away.", False),
        ],
    )
    def test_a_wish_to_be_asked_is_understood(self, statement: str, asks: bool) -> None:
        memory = Memory([Statement(statement, "")], "Book a table.", tools_of("reservation"))
        assert memory.asks_to_confirm(tool("book_restaurant")) is asks

    def test_a_wish_to_be_asked_about_something_else_is_passed_over(self) -> None:
        memory = Memory(
            [Statement("Ask me first about dentists.", ""), Statement("At restaurants, a quiet table.", "")],
            "Book a table at a restaurant.",
            tools_of("reservation"),
        )
        assert not memory.asks_to_confirm(tool("book_restaurant"))

    def test_only_answers_and_prior_statements_are_remembered(self) -> None:
        context = (
            "[Session 1]\n[user]: hello\n[tool call]: book_hotel({})\n"
            "[assistant to user]: Which rooms?\n[user]: Rooms with a desk. "
            "No strong preference there — your call\n"
            "\n[Prior statement 1]\n[user]: Desks made of oak."
        )
        view = View([Message(role="system", content=f"x\n<context>\n{context}\n</context>")], [])
        assert view.statements == [
            Statement("Rooms with a desk.", "Which rooms?"),
            Statement("Desks made of oak.", ""),
        ]


class TestFilling:
    def test_a_search_is_wide_unless_finding_something_is_all_that_is_asked(self) -> None:
        statement = [Statement("What I type on the tram stays unsent.", "")]
        search = tool("search_messages")
        for request, arguments in (("Dig up my tram notes.", {"folder": "drafts"}), ("Answer Ada.", {})):
            assert search_arguments(search, Memory(statement, request, [search])) == arguments

    def test_identity_arguments_are_left_to_the_account(self) -> None:
        row = Row({"restaurant_id": "rst_1", "name": "Corner Table"})
        memory = Memory([], "Dinner for two on 2026-03-01 at 19:00", tools_of("reservation"))
        arguments = action_arguments(tool("book_restaurant"), memory, [row])
        assert arguments == {"restaurant_id": "rst_1", "date_time": "2026-03-01T19:00", "party_size": 2}

    def test_facts_fill_the_parameters_that_they_name(self) -> None:
        said = "The calendar is work. The new start time is 2026-03-01T09:00. The cadence is before event."
        assert facts(said) == {
            "calendar": "work",
            "new_start_time": "2026-03-01T09:00",
            "cadence": "before event",
        }
        memory = Memory([], f"Remind me. {said}", tools_of("scheduling"))
        arguments = action_arguments(tool("set_reminder"), memory, [Row({"event_id": "e"})])
        assert arguments == {"target_id": "e", "cadence": "before_event"}

    def test_another_try_takes_the_next_object(self) -> None:
        memory = Memory([], "Cancel a subscription.", tools_of("commerce"))
        rows = [Row({"subscription_id": "a", "rating": 5}), Row({"subscription_id": "b", "rating": 4})]
        chosen = [
            action_arguments(tool("cancel_subscription"), memory, rows, skip=n)["subscription_id"]
            for n in (0, 1, 2)
        ]
        assert chosen == ["a", "b", "b"]


class TestAsking:
    @pytest.mark.parametrize("domain", DOMAINS)
    async def test_every_question_asks_for_a_rule_and_is_heard_whole(self, domain: str) -> None:
        questions = [topic.question for topic in topics(tools_of(domain))]
        assert len(set(questions)) == len(questions) >= 12
        for question in questions:
            verdict = await offline_router().route(output=f"That is taken care of. {question}", reason="done")
            assert verdict.rule_question_span == question

    def test_every_tool_asked_about_exists(self) -> None:
        offered = {t.name for domain in DOMAINS for t in tools_of(domain)}
        assert {name for domain in DOMAINS for t in topics(tools_of(domain)) for name in t.tools} <= offered

    def test_no_question_is_asked_twice_and_those_at_hand_come_first(self) -> None:
        tools = tools_of("travel")
        first = next_topic(tools, ["book_hotel"], "", only_near=False)
        assert first is not None
        assert "book_hotel" in first.tools
        second = next_topic(tools, ["book_hotel"], f"earlier: {first.question}", only_near=False)
        assert second is not None
        assert second.question != first.question
        everything = " ".join(topic.question for topic in topics(tools))
        assert next_topic(tools, [], everything, only_near=False) is None

    def test_a_question_about_the_same_thing_comes_before_one_about_another(self) -> None:
        found = next_topic(tools_of("reservation"), ["cancel_event_ticket"], "", only_near=False)
        assert found is not None
        assert "book_event_ticket" in found.tools

    def test_an_agent_that_only_may_ask_stays_with_what_was_done(self) -> None:
        tools = tools_of("travel")
        assert next_topic(tools, ["track_trip_updates"], "", only_near=True) is None
        assert next_topic(tools, ["track_trip_updates"], "", only_near=False) is not None

    def test_an_agent_that_only_may_ask_soon_has_enough(self) -> None:
        tools, asked = tools_of("travel"), ""
        for _ in range(ENOUGH):
            topic = next_topic(tools, ["book_hotel"], asked, only_near=True)
            assert topic is not None
            asked += topic.question
        assert next_topic(tools, ["book_hotel"], asked, only_near=True) is None
        assert next_topic(tools, ["book_hotel"], asked, only_near=False) is not None


def test_missing_arguments_of_a_gold_call_come_from_target_then_references_then_constants() -> None:
    session = TestSession.model_validate(
        {
            "session_id": "t",
            "domain": "scheduling",
            "rule_id": "r",
            "instruction": "x",
            "local_env": {
                "tools": [],
                "references": [
                    {"id": "msg_1", "type": "message"},
                    {"id": "evt_1", "type": "calendar_event"},
                    {"id": "evt_2", "type": "event"},
                ],
            },
            "labels": {"target": {"new_end_time": "2026-02-02T12:00:00"}},
        }
    )
    assert complete_arguments(session, "reschedule_event", {}) == {
        "event_id": "evt_1",
        "new_start_time": "2026-01-05T09:00:00",
        "new_end_time": "2026-02-02T12:00:00",
    }
    assert complete_arguments(session, "set_reminder", {"target_id": "evt_2"}) == {"target_id": "evt_2"}
    assert complete_arguments(session, "send_message", {}) == {"body": "as agreed", "recipient": "as agreed"}


@pytest.mark.parametrize(
    ("tool_name", "field", "value"),
    [
        ("modify_service_appointment", "date_time", "2026-01-05T09:00:00"),
        ("modify_restaurant_reservation", "party_size", "1"),
        ("modify_event_ticket", "contact_info", "as agreed"),
    ],
)
def test_a_made_up_new_value_fits_its_field(tool_name: str, field: str, value: str) -> None:
    session = TestSession.model_validate(
        {
            "session_id": "t",
            "domain": "reservation",
            "rule_id": "r",
            "instruction": "x",
            "local_env": {"tools": []},
            "labels": {},
        }
    )
    assert complete_arguments(session, tool_name, {"field": field})["new_value"] == value
