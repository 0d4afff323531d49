"""Layers that are read: passages, rules, a text that is written anew."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_data.constants import DEFLECT_TEXT, SEND_TO_USER
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage
from atr_memory import LAYER_KINDS, FinishedSession, Kept, LayerHelp, MemoryFault, MemoryLayer, MemoryStore
from atr_memory.layers.retrieval import passages
from atr_memory.store import Entry
from atr_memory.text_search import ranked
from atr_memory.view import MemoryView
from atr_memory.writer import Written

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def layer(kind: str, given: LayerHelp | None = None, **settings: Any) -> MemoryLayer:
    return LAYER_KINDS[kind](kind, settings, given or LayerHelp())


def talk(name: str, *lines: str) -> FinishedSession:
    """A session in which assistant and user take turns, the assistant first."""
    messages: list[Message] = []
    for number, line in enumerate(lines):
        if number % 2:
            messages.append(Message(role="user", content=line))
        else:
            said = ToolCall(id=f"c{number}", name=SEND_TO_USER, arguments={"output": line, "reason": "r"})
            messages.append(Message(role="assistant", tool_calls=[said]))
    return FinishedSession(name, messages)


async def told(view: MemoryView, *sessions: FinishedSession) -> None:
    for session in sessions:
        await view.append_session(session)


# Retrieval


def test_the_best_texts_share_most_and_rarest_words() -> None:
    texts = ["the train is late", "trains and planes", "a quiet evening", "the the the"]
    assert ranked(texts, "train", 5) == [0, 1] or ranked(texts, "train", 5) == [1, 0]
    assert ranked(texts, "Evenings?", 1) == [2]
    assert ranked(texts, "", 3) == ranked(texts, "?!", 3) == ranked([], "train", 3) == []


@given(st.lists(TEXT, max_size=6), TEXT, st.integers(1, 4))
def test_any_query_is_answered_with_positions_of_texts(texts: list[str], query: str, top: int) -> None:
    found = ranked(texts, query, top)
    assert len(found) <= top and len(set(found)) == len(found) and set(found) <= set(range(len(texts)))


@given(st.lists(st.text("abc \n", max_size=60), max_size=4), st.integers(5, 40))
def test_passages_hold_every_line_and_are_no_longer_than_wanted(texts: list[str], longest: int) -> None:
    entries = [Entry("session", text, f"s{number}") for number, text in enumerate(texts)]
    found = passages(entries, longest)
    for number, text in enumerate(texts, start=1):
        mine = "\n".join(passage.text for passage in found if passage.session == number)
        assert all(line in mine.split("\n") for line in text.split("\n"))
    lines = {line for text in texts for line in text.split("\n")}
    assert all(len(passage.text) <= longest or passage.text in lines for passage in found)


def test_question_and_answer_stand_in_one_passage() -> None:
    lines = [f"[tool result]: {number:040}" for number in range(6)]
    lines += ["[assistant to user]: Tea or coffee?", "[user]: Tea."]
    for longest in range(60, 200, 7):
        found = passages([Entry("session", "\n".join(lines), "s")], longest)
        assert any("coffee?\n[user]: Tea." in passage.text for passage in found), longest


async def test_retrieval_by_a_tool_answers_queries_and_pushes_nothing() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", layer("retrieval"))
        await told(view, talk("s1", "Tea or coffee?", "Tea."), talk("s2", "Train or plane?", "The train."))
        assert view.render("which train") is None
        async with view.open() as offer:
            assert offer is not None and [tool.name for tool in offer.tools] == ["memory_search"]
            answer = json.loads((await offer.call("memory_search", {"query": "train"})).text)
    text = "[assistant to user]: Train or plane?\n[user]: The train."
    assert answer == {"count": 1, "passages": [{"session": 2, "text": text}]}


async def test_retrieval_pushes_what_the_task_brings_up_and_the_latest_where_nothing_is_known() -> None:
    with MemoryStore() as store:
        view = MemoryView(store, "cell", layer("retrieval", read="pushed", top=1))
        await told(view, talk("s1", "Tea or coffee?", "Tea."), talk("s2", "Train or plane?", "The train."))
        assert (
            view.render("get some coffee") == "[Session 1]\n[assistant to user]: Tea or coffee?\n[user]: Tea."
        )
        assert "Train or plane" in (view.render() or "")
        async with view.open() as offer:
            assert offer is None


async def test_retrieval_takes_the_ranking_that_it_is_given() -> None:
    def last_first(texts: Sequence[str], query: str, top: int) -> list[int]:
        return list(range(len(texts)))[::-1][:top]

    given = LayerHelp(by_meaning=last_first)
    with MemoryStore() as store:
        view = MemoryView(store, "cell", layer("retrieval", given, by="encoder", read="pushed", top=1))
        await told(view, talk("s1", "Tea?", "Yes."), talk("s2", "Rain?", "No."))
        assert "Rain" in (view.render("tea") or "")
    with pytest.raises(ValueError, match=r"a sentence encoder is needed: install atrbench\[encoder\]"):
        layer("retrieval", by="encoder")


# Rules


async def test_rules_are_what_was_answered_to_a_general_question_and_what_says_so_itself() -> None:
    trains = "In general, do you prefer trains?"
    sessions = [
        talk("s1", "Which day?", "Friday.", trains, "The train."),
        talk("s2", "Done.", "Thanks. I never fly. See you at four.", "Do you usually tip?", DEFLECT_TEXT),
        talk("s3", trains, "The train.", "Shall I book?", "Yes, do."),
    ]
    with MemoryStore() as store:
        view = MemoryView(store, "cell", layer("rules"))
        await told(view, *sessions)
        assert view.render() == (
            "[What holds in general]\n- (asked: In general, do you prefer trains?) The train.\n- I never fly."
        )
        assert [entry.session_id for entry in view.entries()] == ["s1", "s2"], "s3 told nothing new"


# A model that writes


@dataclass
class Typist:
    answers: list[str | Exception]
    read: list[str] = field(default_factory=list[str])
    told: list[str] = field(default_factory=list[str])

    async def write(self, instructions: str, material: str) -> Written:
        self.told.append(instructions)
        self.read.append(material)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Written(answer, Usage(prompt_tokens=7, calls=1))


async def test_the_rewritten_text_is_all_that_is_left_and_is_the_material_of_the_next() -> None:
    typist = Typist(["likes tea", "", "likes tea\nfears planes"])
    with MemoryStore() as store:
        view = MemoryView(store, "cell", layer("rewrite", LayerHelp(writer=typist), characters=100))
        await told(view, talk("s1", "Tea?", "Yes."))
        assert view.render() == "likes tea"
        await told(view, talk("s2", "Rain?", "No."))
        assert view.render() == "likes tea", "an empty answer leaves it as it was"
        await told(view, talk("s3", "Fly?", "Never."))
        assert view.render() == "likes tea\nfears planes"
        assert view.layer.size(view.kept) == len("likes tea\nfears planes"), "what was before is in it"
    assert "<memory>\nlikes tea\n</memory>" in typist.read[2] and "[user]: Never." in typist.read[2]
    assert "at most 100 characters" in typist.told[0]


@pytest.mark.parametrize(("answer", "kept"), [("ab\ncd\nef", "ab\ncd"), ("abcdefgh", "abcdef"), ("ab", "ab")])
async def test_a_text_that_is_too_long_is_cut_at_the_end_of_a_line(answer: str, kept: str) -> None:
    with MemoryStore() as store:
        given = LayerHelp(writer=Typist([answer]))
        view = MemoryView(store, "cell", layer("rewrite", given, characters=6))
        await told(view, talk("s1", "Tea?", "Yes."))
        assert view.render() == kept


async def test_a_model_is_asked_once_for_a_session_and_again_when_the_session_is_another() -> None:
    typist = Typist(["- likes tea", "NOTHING", "- likes rum"])
    rules = layer("rules", LayerHelp(writer=typist), extractor="agent")
    first, second, other = talk("s1", "Tea?", "Yes."), talk("s2", "Rain?", "No."), talk("s1", "Rum?", "Yes.")
    with MemoryStore() as store:
        for run in range(2):
            store.forget_entries()
            view = MemoryView(store, "cell", rules)
            assert (await view.keep(first, None)) == (Usage(prompt_tokens=7, calls=1) if run == 0 else None)
            await told(view, first, second)
            assert view.render() == "[What holds in general]\n- likes tea"
        store.forget_entries()
        view = MemoryView(store, "cell", rules)
        await told(view, other)
        assert view.render() == "[What holds in general]\n- likes rum"
    assert len(typist.read) == 3


async def test_a_model_that_cannot_be_reached_is_a_fault_of_the_memory() -> None:
    with MemoryStore() as store:
        given = LayerHelp(writer=Typist([MemoryFault("no line")]))
        view = MemoryView(store, "cell", layer("rewrite", given))
        with pytest.raises(MemoryFault, match="no line"):
            await view.append_session(talk("s1", "Tea?", "Yes."))
        assert view.entries() == ()


async def test_every_layer_shows_what_the_user_said_outside_any_session() -> None:
    given = LayerHelp(writer=Typist(["x"]))
    shown = "[Prior statement 1]\n[user]: brass"
    for kind in ("none", "context", "notes", "retrieval", "rules", "rewrite", "home"):
        assert layer(kind, given).render([Entry("prior", "brass")]) == shown, kind
    with MemoryStore() as store:
        assert layer("rules").stored(Kept([Entry("prior", "brass")], store)) == "brass"
