"""The user that is a program: what it tells, what it keeps, and when it ends."""

from __future__ import annotations

from typing import Any

import pytest

from atr_data.episode import GoldStep, Reference
from atr_user_sim.brief import UserBrief
from atr_user_sim.interface import HistoryEntry, SimulatorReply
from atr_user_sim.offline import OfflineSimulator

SEARCH = GoldStep(tool="search_hotels", arguments={"location": "Eugene", "sort_by": "price_asc"})
BOOK = GoldStep(tool="book_hotel", arguments={"hotel_offer_id": "hot_1"})
DONE = HistoryEntry("assistant", "[invoked search_hotels({}) → ok]\n[invoked book_hotel({}) → ok]")
PARAMS = {"location": "Eugene", "guest_count": 2, "check_in_date": "2027-04-02", "price_limit": 110}


def _user(params: dict[str, Any] | None = None, *references: Reference) -> OfflineSimulator:
    return OfflineSimulator(
        UserBrief(
            narrative="",
            reason_for_call="Find me a bed",
            task_params=PARAMS if params is None else params,
            gold_trajectory=(SEARCH, BOOK),
            references={reference.id: reference for reference in references},
            task_type="travel",
            hint={"location": "Eugene"},
        )
    )


async def _say(
    text: str, *history: HistoryEntry, user: OfflineSimulator | None = None, directive: str | None = None
) -> SimulatorReply:
    return await (user or _user()).reply(agent_text=text, history=history, answer_directive=directive)


async def test_the_opening_tells_the_reason_and_the_hint_only() -> None:
    opening = (await _user().open()).text
    assert "Find me a bed" in opening
    assert "Eugene" in opening
    assert "2027" not in opening


@pytest.mark.parametrize(
    ("question", "told", "kept"),
    [
        ("Which location should I search in?", ["Eugene"], ["2027-04-02", "110"]),
        ("How many people and what is your budget?", ["2", "110"], ["Eugene"]),
        ("Could you give me more details?", ["Eugene", "2027-04-02", "110"], []),
        ("Do you like window or aisle?", ["No preference"], ["window", "aisle"]),
    ],
)
async def test_answers_are_as_narrow_as_the_question(question: str, told: list[str], kept: list[str]) -> None:
    reply = (await _say(question)).text
    assert all(value in reply for value in told)
    assert not any(value in reply for value in kept)


async def test_points_tell_what_to_write() -> None:
    user = _user({"reply_points": ["say yes", "bring tea"]})
    assert "say yes; bring tea" in (await _say("What should the message say?", user=user)).text


async def test_an_object_goes_by_its_name_never_by_its_id() -> None:
    named = Reference(id="hot_1", type="hotel_offer", attributes={"name": "Elm House"})
    user = _user({"hotel_offer_id": "hot_1", "folder_id": "fld_9"}, named)
    reply = (await _say("Can you give me more details?", user=user)).text
    assert "Elm House" in reply
    assert "hot_1" not in reply
    assert "fld_9" not in reply


async def test_of_listed_options_the_one_within_bounds_and_facts_is_chosen() -> None:
    asked = "Which one should I take?\n- Skinner Motel, $108\n- Willow House, $96\n- Fair Rooms, $124"
    assert (await _say(asked)).text == "Willow House, $96, please."
    user = _user({"mode": "bus"})
    asked = "Which one should I take?\n- Clatsop car\n- Lower River bus"
    assert (await _say(asked, user=user)).text == "Lower River bus, please."


async def test_a_fitting_proposal_gets_a_yes_and_one_above_the_bound_a_no() -> None:
    assert (await _say("Shall I book it?")).text == "Yes, please go ahead."
    assert (await _say("Shall I book the room at $140?")).text.startswith("No")


async def test_a_stuck_agent_hears_the_next_step_without_tool_names() -> None:
    first = (await _say("I couldn't find anything. What should I do next?")).text
    assert "Eugene" in first
    assert "search_hotels" not in first
    second = (
        await _say("What should I do next?", HistoryEntry("assistant", DONE.content.split("\n")[0]))
    ).text
    assert second != first


async def test_a_failed_last_step_leaves_the_task_open() -> None:
    failed = HistoryEntry(
        "assistant", "[invoked search_hotels({}) → ok]\n[invoked book_hotel({}) → error: full]"
    )
    assert (await _say("It is booked.", failed)).text == "Okay, please carry on."


async def test_a_finished_task_is_closed_in_two_steps() -> None:
    thanks = await _say("It is booked.", DONE)
    assert thanks.intent == "continue"
    assert "thanks" in thanks.text
    end = await _say("You're welcome!", DONE, HistoryEntry("user", thanks.text))
    assert end.intent == "end"
    assert (await _say("It is booked. Is there anything else?", DONE)).intent == "end"


async def test_an_impossible_task_is_closed_the_same_way() -> None:
    leave = await _say("I am unable to book anything.")
    assert leave.intent == "continue"
    assert (await _say("Sorry about that.", HistoryEntry("user", leave.text))).intent == "end"


async def test_an_answer_directive_puts_the_token_once_and_never_ends() -> None:
    question = "In general, how many people do you want in a room?"
    directive = f'The question: "{question}" has the answer <RULE_ANSWER>.'
    reply = await _say(f"It is booked. {question} Anything else?", DONE, directive=directive)
    assert reply == SimulatorReply("<RULE_ANSWER>.", "continue")
    both = await _say(f"{question} And which location?", directive=directive)
    assert both.text == "<RULE_ANSWER>. The location is Eugene."


async def test_any_agent_is_left_in_the_end() -> None:
    history: list[HistoryEntry] = []
    user = _user()
    for turn in range(50):
        reply = await user.reply(agent_text=f"What about {turn}?", history=history, answer_directive=None)
        if reply.intent == "end":
            break
        assert reply.text
        history += [HistoryEntry("assistant", f"What about {turn}?"), HistoryEntry("user", reply.text)]
    else:
        pytest.fail("never ended")


@pytest.mark.parametrize(
    "question",
    [
        "Is that all right with you?",
        "Please confirm and I will do it.",
        "OK to proceed?",
        "Does that work for you?",
        "Do I have your approval?",
        "Everything correct?",
        "May I send it, if you're happy?",
        "Good to go?",
        "I have put together the booking. Is this okay?",
    ],
)
async def test_who_asks_for_a_yes_gets_one(question: str) -> None:
    assert (await _say(question)).text == "Yes, please go ahead."
    assert "go ahead" in (await _say(f"Are you there, and would you object to that? {question}")).text


async def test_an_objection_asked_for_is_denied() -> None:
    assert (await _say("Would you mind if I book it?")).text == "Not at all, please go ahead."


async def test_a_proposal_with_a_wrong_number_hears_the_right_one() -> None:
    assert (await _say("Shall I book it for 3 guests?")).text == "No: The guest count is 2."
    assert (await _say("Shall I book it for 2 guests at 19:30?")).text == "Yes, please go ahead."


async def test_of_two_questions_in_one_message_both_are_answered() -> None:
    both = (await _say("Which location should I search in? And for how many people?")).text
    assert "Eugene" in both
    assert "2." in both
    assert "Eugene" in (await _say("Where should I look, and is that all right with you?")).text


async def test_a_fact_of_the_task_is_told_though_it_is_asked_as_a_preference() -> None:
    question = "Do you have a preferred location?"
    assert (await _say(question)).text == "The location is Eugene."
    routed = await _say(question, directive=f'The question: "{question}" has the answer <RULE_ANSWER>.')
    assert routed.text == "<RULE_ANSWER>. The location is Eugene."
