"""The answer token as text: found in its forms, replaced in the case its place asks for, gone afterwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_user_sim import answer_token

PIECES = [
    "<",
    ">",
    "RULE_ANSWER",
    "RULE_",
    "ANSWER",
    " ",
    "  ",
    "\t",
    "\n",
    "\n\n\n",
    ".",
    "?",
    ",",
    "so",
    "I",
    "é",
]
REPLIES = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=14).map("".join)
ANSWERS = st.text(max_size=20) | st.sampled_from(["Blue tape.", "I like it", "I'm late", "no", "Yes!"])


@pytest.mark.parametrize(
    "token", ["<RULE_ANSWER>", "<  RULE_ANSWER\n>", "RULE_ANSWER", "RULE_ANSWER >", "<RULE_ANSWER"]
)
def test_every_form_of_the_token_is_one(token: str) -> None:
    assert answer_token.has_token(f"x{token}y")
    assert answer_token.substitute(f"Well, {token}!", "blue") == "Well, blue!"


@pytest.mark.parametrize("text", ["", "<rule_answer>", "RULE ANSWER", "< RULE", "answer"])
def test_nothing_else_is_a_token(text: str) -> None:
    assert not answer_token.has_token(text)


@pytest.mark.parametrize(
    ("reply", "answer", "expected"),
    [
        ("<RULE_ANSWER>", "blue tape", "Blue tape."),
        ("Sure. <RULE_ANSWER> Thanks", "blue tape", "Sure. Blue tape. Thanks"),
        ("For that, <RULE_ANSWER>", "Blue tape!", "For that, blue tape!"),
        ("For that, <RULE_ANSWER>", "I", "For that, I."),
        ("For that, <RULE_ANSWER>", "I'm easy", "For that, I'm easy."),
        ("For that, <RULE_ANSWER>", "It depends", "For that, it depends."),
        ("Ok: <RULE_ANSWER>. Bye", "blue.", "Ok: blue. Bye"),
        ("Ok: <RULE_ANSWER>, bye", "blue.", "Ok: blue., bye"),
        ("Ok: <RULE_ANSWER>thanks", "blue;", "Ok: blue; thanks"),
        ("A <RULE_ANSWER> b <RULE_ANSWER> c", "x", "A x. b c"),
    ],
)
def test_the_answer_fits_the_sentence_it_lands_in(reply: str, answer: str, expected: str) -> None:
    assert answer_token.substitute(reply, answer) == expected


@given(REPLIES)
def test_stripping_twice_changes_nothing_more(reply: str) -> None:
    once = answer_token.strip(reply)
    assert answer_token.strip(once) == once
    assert not answer_token.has_token(once)
    assert once == once.strip()


@given(REPLIES, ANSWERS)
def test_without_a_token_or_an_answer_the_reply_stays_as_it_is(reply: str, answer: str) -> None:
    if not answer_token.has_token(reply) or not answer.strip():
        assert answer_token.substitute(reply, answer) == reply


@given(REPLIES, st.sampled_from(["Blue tape.", "never", "I see to it"]))
def test_a_substituted_reply_holds_the_answer_and_keeps_what_came_before(reply: str, answer: str) -> None:
    before, token, _ = reply.partition("<RULE_ANSWER>")
    if token and not answer_token.has_token(before):
        result = answer_token.substitute(reply, answer)
        assert result.startswith(before)
        assert answer[1:].strip(".") in result[len(before) :]


@given(REPLIES, ANSWERS)
def test_an_appended_answer_stands_last_and_untouched(reply: str, answer: str) -> None:
    appended = answer_token.append(reply, answer)
    assert appended.endswith(answer.strip())
    assert appended.startswith(answer_token.strip(reply))
