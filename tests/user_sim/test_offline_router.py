"""What counts as a standing-rule question, and which sentence is cut out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_user_sim.offline import offline_router


@pytest.mark.parametrize(
    "question",
    [
        "Which location should I search in?",
        "What date and time?",
        "What should the message say?",
        "Which of these should I use: 1) Nord 2) Tolva 3) Sitwell?",
        "How many guests should I book for?",
        "Do you have a budget in mind?",
        "Do you have a preferred time for the appointment?",
        "Do you want me to search for flights or trains?",
        "Are there any specific features you're looking for?",
        "How do you want to pay?",
    ],
)
async def test_a_question_that_the_task_needs_asks_no_rule(question: str) -> None:
    verdict = await offline_router().route(output=f"Sure, I can help. {question}", reason="asking the user")
    assert verdict.rule_question_span is None
    assert not verdict.is_strict_rule_question


@pytest.mark.parametrize(
    "question",
    [
        "In general, when you book hotel rooms, how do you want me to choose?",
        "When I order things for you, how should I choose between options?",
        "How do you generally like me to organise files?",
        "Whenever you travel, do you prefer a window seat (e.g. near the front) or an aisle seat?",
        "Let me know if you'd like such mails flagged in the future.",
        '(Should I always file these under "Bills. Paid?" from now on?)',
    ],
)
async def test_the_asking_sentence_is_cut_out_verbatim(question: str) -> None:
    output = f"All done, it is booked.\n\n- room: Dr. Bell's, 4.5 stars\n\n{question} Shall I send it?"
    verdict = await offline_router().route(output=output, reason="")
    assert verdict.rule_question_span == question


async def test_who_writes_without_capitals_still_writes_sentences() -> None:
    asked = "do u always want an aisle seat from now on?"
    output = f"hey, it's booked, see e.g. row 9. all paid. {asked} tell me whenever"
    verdict = await offline_router().route(output=output, reason="")
    assert verdict.rule_question_span == asked


async def test_a_letter_that_asks_is_only_shown() -> None:
    letter = "Dear Mr. Halvorsen,\n\nDo you generally prefer calls?\n\nKind regards,\nThe office"
    verdict = await offline_router().route(
        output=f"I drafted this:\n\n{letter}\n\nShall I send it?", reason=""
    )
    assert not verdict.is_strict_rule_question


@pytest.mark.parametrize(
    "shown",
    [
        'The draft says "Do you generally prefer calls?"',
        "The draft says 'Do you generally prefer calls, since Ada's line is bad?'",
        "The draft says \u2018Do you generally prefer calls?\u2019",
        "I'd text her: do you generally prefer calls?",
        "Draft for the mill:\n\nDo you generally prefer calls? And do you always close at noon?",
        "> Do you generally prefer calls?",
    ],
    ids=["double", "single with an apostrophe", "curly", "told", "paragraph", "block"],
)
async def test_words_for_somebody_else_ask_nothing_and_do_not_hide_what_is_asked(shown: str) -> None:
    alone = await offline_router().route(output=f"{shown}\n\nIt is not sent yet.", reason="showing the text")
    assert not alone.is_strict_rule_question
    own = "In general, do you want to see every mail to suppliers first?"
    both = await offline_router().route(output=f"{shown}\n\n{own}", reason="for later mails too")
    assert both.rule_question_span == own


async def test_a_reason_alone_makes_no_question() -> None:
    verdict = await offline_router().route(
        output="The ticket is booked.", reason="Asking a standing rule question about the future."
    )
    assert not verdict.is_strict_rule_question


async def test_an_announced_question_counts_as_one_for_later() -> None:
    output = "It is booked. One quick question for next time:\n\nDo you like to sit inside?"
    verdict = await offline_router().route(output=output, reason="")
    assert verdict.rule_question_span == "Do you like to sit inside?"


@given(st.text(alphabet='ab ?.!"(>)\n`-*“”', max_size=120))
async def test_a_span_is_always_part_of_the_message(output: str) -> None:
    verdict = await offline_router().route(output=output, reason="standing question asked")
    assert verdict.is_strict_rule_question == (verdict.rule_question_span is not None)
    assert (verdict.rule_question_span or "") in output
