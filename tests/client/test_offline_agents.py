"""The offline agents: reading, choosing, asking, and what each of them is there to prove."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atr_client.environments import open_environment
from atr_client.models.base import ToolSpec
from atr_client.models.offline import OFFLINE_MODELS
from atr_client.models.offline.asking import next_topic, topics
from atr_client.models.offline.choosing import best_tool, best_value
from atr_client.models.offline.objects import best_rows
from atr_client.models.offline.filling import action_arguments
from atr_client.models.offline.gold import complete_arguments
from atr_client.models.offline.reading import Row, View
from atr_client.models.offline.wording import ceiling, count_near, moments, stems
from atr_client.recorder import SessionRecorder
from atr_client.session import run_session
from atr_client.turns import SessionSettings
from atr_data import load_episode, select_episodes
from atr_data.calls import CallLog
from atr_data.episode import Episode, TestSession
from atr_data.trajectory import Message, Trajectory
from atr_evaluator import evaluate_episode
from atr_ontology import DOMAINS, input_schema, load_ontology


def tools_of(domain: str) -> list[ToolSpec]:
    return [ToolSpec(t.name, t.description, input_schema(t)) for t in load_ontology().offered(domain)]


def tool(name: str) -> ToolSpec:
    known = load_ontology().tool(name)
    assert known is not None
    return ToolSpec(name, known.description, input_schema(known))


class TestWording:
    def test_stems_fold_endings_and_drop_small_words(self) -> None:
        assert stems("The planned trips, and planning a trip") == ["plann", "trip", "plann", "trip"]

    def test_a_turning_word_reverses_what_follows_it(self) -> None:
        assert leaning("Trains rather than flights.") == {"train": 1, "flight": -1}

    @pytest.mark.parametrize(
        ("text", "limit"),
        [
            ("keep it under $35", 35.0),
            ("$420 or less, please", 420.0),
            ("a budget of 1,200 dollars", 1200.0),
            ("on 2026-05-01 at 19:00", None),
        ],
    )
    def test_price_limits_are_read(self, text: str, limit: float | None) -> None:
        assert ceiling(text) == limit

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


class TestChoosing:
    def test_the_request_names_the_tool(self) -> None:
        chosen = best_tool(tools_of("reservation"), "Please book dinner for four at a good place", "")
        assert chosen is not None
        assert chosen.name == "book_restaurant"

    def test_a_statement_outweighs_the_request(self) -> None:
        asked = "Reply to the plumber that Friday works."
        statement = "I like to look over a draft first."
        mail = [Row({"message_id": "m", "thread_id": "t"})]
        without = best_tool(tools_of("communication"), asked, "", mail)
        with_rule = best_tool(tools_of("communication"), asked, statement, mail)
        assert (without and without.name, with_rule and with_rule.name) == ("send_message", "draft_message")

    def test_objects_are_ranked_by_limits_then_statement_then_rating(self) -> None:
        rows = [
            Row({"product_id": "a", "name": "Blue kettle", "price": 20, "rating": 4.9}),
            Row({"product_id": "b", "name": "Copper kettle", "price": 30, "rating": 4.1}),
            Row({"product_id": "c", "name": "Copper kettle deluxe", "price": 90, "rating": 5.0}),
        ]
        ranked = best_rows(rows, "a kettle under $50", "I like copper in my kitchen.")
        assert [row.fields["product_id"] for row in ranked] == ["b", "a"]
        assert best_rows(rows, "a kettle", "")[0].fields["product_id"] == "c"

    def test_enum_values_are_recognised_by_what_people_call_them(self) -> None:
        assert best_value(tool("book_flight"), "seat_preference", "I want to look outside") == "window"
        assert best_value(tool("return_order"), "resolution_type", "Money back, always") == "refund"
        assert best_value(tool("book_flight"), "seat_preference", "Nothing of the kind") is None

    def test_a_statement_of_the_same_domain_fits_better(self) -> None:
        context = (
            "[Session 1]\n[user]: hello\n[tool call]: book_hotel({})\n"
            "[assistant to user]: Which rooms?\n[user]: Rooms with a desk, please.\n\n"
            "[Session 2]\n[tool call]: place_order({})\n[assistant to user]: Which desks?\n"
            "[user]: Desks made of oak."
        )
        view = View([Message(role="system", content=f"x\n<context>\n{context}\n</context>")], [])
        found = best_statement(view.statements, "Book a room with a desk", tools_of("travel"))
        assert found is not None
        assert found.text == "Rooms with a desk, please."

    def test_identity_arguments_are_left_to_the_account(self) -> None:
        row = Row({"restaurant_id": "rst_1", "name": "Corner Table"})
        arguments = action_arguments(
            tool("book_restaurant"), "Dinner for two on 2026-03-01 at 19:00", "", [row]
        )
        assert arguments == {"restaurant_id": "rst_1", "date_time": "2026-03-01T19:00", "party_size": 2}


class TestAsking:
    @pytest.mark.parametrize("domain", DOMAINS)
    def test_every_domain_gives_occasion_for_several_questions(self, domain: str) -> None:
        questions = [topic.question for topic in topics(tools_of(domain))]
        assert len(set(questions)) == len(questions) >= 3

    def test_no_question_is_asked_twice_and_those_at_hand_come_first(self) -> None:
        tools = tools_of("travel")
        first = next_topic(tools, ["book_hotel"], "")
        assert first is not None
        assert "book_hotel" in first.tools
        second = next_topic(tools, ["book_hotel"], f"earlier: {first.question}")
        assert second is not None
        assert second.question != first.question
        everything = " ".join(topic.question for topic in topics(tools))
        assert next_topic(tools, [], everything) is None


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


async def play_tests(model_id: str, episode: Episode, folder: Path, context: bool) -> dict[str, Any]:
    """Test sessions alone: without a context, or with the statement of the session's rule."""
    trajectories: list[Trajectory] = []
    with CallLog(folder / f"{episode.persona_id}.jsonl") as log:
        for session in episode.test_sessions:
            rule = episode.rule(session.rule_id)
            statement = f"[Prior statement 1]\n[user]: {rule.canonical_answer}" if context and rule else None
            recorder = SessionRecorder(log, 1, session.session_id, "test", "default")
            async with open_environment(episode, session, recorder) as environment:
                trajectory = await run_session(
                    episode=episode,
                    session=session,
                    variant="default",
                    model=OFFLINE_MODELS[model_id].make(),
                    memory_context=statement,
                    user=None,
                    environment=environment,
                    settings=SessionSettings(),
                )
            assert trajectory.termination_reason == "agent_stop"
            trajectories.append(trajectory)
    return evaluate_episode(episode, trajectories, "default")["metrics"]


async def pooled(model_id: str, folder: Path, episodes: Path, *, context: bool = False) -> tuple[int, int]:
    passed = total = 0
    for path in select_episodes(["all"], episodes):
        metrics = await play_tests(model_id, load_episode(path), folder, context)
        passed, total = passed + metrics["success_count"], total + metrics["total_test"]
    return passed, total


async def test_gold_passes_every_official_test(official_dir: Path, tmp_path: Path) -> None:
    assert await pooled("offline/gold", tmp_path, official_dir / "episodes") == (284, 284)


async def test_noop_passes_no_official_test(official_dir: Path, tmp_path: Path) -> None:
    assert await pooled("offline/noop", tmp_path, official_dir / "episodes") == (0, 284)


async def test_a_known_rule_is_worth_much_to_asker(official_dir: Path, tmp_path: Path) -> None:
    episodes = official_dir / "episodes"
    naive, _ = await pooled("offline/naive", tmp_path, episodes, context=True)
    ignorant, _ = await pooled("offline/asker", tmp_path, episodes)
    told, _ = await pooled("offline/asker", tmp_path, episodes, context=True)
    assert naive == ignorant
    assert told >= 4 * ignorant
