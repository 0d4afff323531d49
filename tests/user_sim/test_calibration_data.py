"""The labelled data: enough of it, half of it hard, and nothing in it dangles."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from atr_user_sim.calibration import calibrate_classifier, calibrate_router
from atr_user_sim.calibration.folds import FOLDS
from atr_user_sim.calibration.measure import ClassifierQuestion, RouterTurn, earlier_file
from atr_user_sim.calibration.records import (
    DATA,
    agent_questions,
    line_records,
    persona_lines,
    questions,
    statements,
    turns,
)
from atr_user_sim.lines import load_lines, official_lines
from atr_user_sim.offline import offline_classifier, offline_router
from tests.support.vectors import read_jsonl

_MARKER = re.compile(
    r"\b(?:always|usual\w*|prefer\w*|general\w*|rules?|future|default|normal\w*|typical\w*|from now on)\b",
    re.I,
)
EARLIER, STARTS, QUOTING = 329, 22, 540


def test_there_are_enough_questions_and_turns_of_many_hands() -> None:
    assert len(questions()) + EARLIER >= 3_000
    assert len(turns()) + EARLIER >= 2_000
    assert len({question.writer for question in questions()}) >= 7
    assert len({statement.writer for statement in statements()}) >= 4


def test_half_of_the_questions_are_hard_negatives_and_half_of_the_turns_ask_nothing() -> None:
    negative = [question for question in questions() if question.gold is None]
    assert 0.45 < len(negative) / len(questions()) < 0.55
    kinds = Counter(question.kind for question in negative)
    assert len(kinds) >= 6
    assert all(number >= 0.1 * len(negative) for number in kinds.values())
    silent = [turn for turn in turns() if turn.span is None]
    assert 0.45 < len(silent) / len(turns()) < 0.55


def test_half_of_the_asking_turns_have_no_marker_word() -> None:
    spans = [turn.span for turn in turns() if turn.span]
    assert sum(not _MARKER.search(span) for span in spans) / len(spans) >= 0.5


def test_every_id_is_one_of_the_persona_and_every_span_stands_in_its_message() -> None:
    rules = {(statement.persona, statement.rule) for statement in statements()}
    assert len(rules) == len(statements())
    assert {(q.persona, q.gold) for q in questions() if q.gold} <= rules
    assert {(line.persona, line.rule) for line in line_records()} == rules
    assert all(turn.span in turn.output for turn in turns() if turn.span)


def test_pools_have_eight_to_fifteen_statements_with_lines_of_two_hands() -> None:
    sizes = Counter(statement.persona for statement in statements())
    assert all(8 <= size <= 15 for size in sizes.values())
    for lines in persona_lines().values():
        assert len(lines.hands) == 2
        assert all(len(hand.asked) >= 3 and len(hand.not_asked) >= 2 for hand in lines.hands.values())
        assert len(lines.about.decision) >= 8


def test_no_question_is_a_line_that_the_user_knows() -> None:
    known = {(r.persona, line) for r in line_records() for line in (*r.asked, *r.not_asked)}
    assert not known & {(question.persona, question.question) for question in questions()}


def test_each_group_has_weights_that_did_not_see_it() -> None:
    groups = {statement.writer for statement in statements()}
    heads = {"encoder", "encoder_lines", "projection", "router", "words", "words_lines"}
    for group in groups:
        assert heads <= {path.stem for path in (FOLDS / group).glob("*.json")}


def test_the_official_rules_have_lines_of_two_hands_and_word_lists() -> None:
    lines = official_lines()
    assert len(lines) == 284
    assert all(len(entry.hands) == 2 and entry.about.decision for entry in lines.values())


def test_the_earlier_questions_and_turns_are_still_there() -> None:
    assert (
        len([RouterTurn.model_validate(line) for line in read_jsonl(earlier_file("router"))])
        == EARLIER + STARTS + QUOTING
    )
    found = [ClassifierQuestion.model_validate(line) for line in read_jsonl(earlier_file("classifier"))]
    assert len(found) == EARLIER


def test_questions_in_an_agents_voice_are_many_of_many_styles_and_some_long() -> None:
    asked = agent_questions()
    rules = {(s.persona, s.rule) for s in statements()}
    assert {(q.persona, q.gold) for q in asked if q.gold} <= rules
    assert sum(q.gold is None for q in asked) >= 600
    assert sum(q.gold is not None for q in asked) >= 300
    assert len({q.kind for q in asked}) >= 6
    long = [q for q in asked if len(q.question.split()) >= 25]
    assert len(long) >= 200
    assert {q.persona for q in long} == {s.persona for s in statements()}
    known = {(q.persona, q.question) for q in questions()}
    known |= {(r.persona, line) for r in line_records() for line in (*r.asked, *r.not_asked)}
    by_chance = known & {(q.persona, q.question) for q in asked}
    assert len(by_chance) <= 4


def test_the_sealed_set_is_of_personas_that_nothing_was_trained_on() -> None:
    folder = DATA / "sealed"
    asked = [ClassifierQuestion.model_validate(line) for line in read_jsonl(folder / "classifier.jsonl")]
    heard = [RouterTurn.model_validate(line) for line in read_jsonl(folder / "router.jsonl")]
    assert (len(asked), len(heard)) == (350, 200)
    assert sum(question.gold_rule_id is None for question in asked) == 175
    personas = {item.source.rpartition("_")[0] for item in (*asked, *heard)}
    assert len(personas) == 5
    assert not personas & {statement.persona for statement in statements()}
    known = load_lines(folder / "lines.json")
    assert {rule.rule_id for question in asked for rule in question.rule_pool} == known.keys()
    assert all(len(lines.hands) == 2 for lines in known.values())


@pytest.mark.parametrize(
    ("unseen", "turns", "recall", "false_positives"),
    [("quoting", 140, 0.90, 0.09), ("mixed", 240, 0.87, 0.05)],
)
async def test_turns_of_writers_that_nobody_had_seen_are_told_apart_as_measured(
    unseen: str, turns: int, recall: float, false_positives: float
) -> None:
    result = await calibrate_router(offline_router(), DATA / "sealed" / f"{unseen}.jsonl")
    assert result.total == turns
    assert (result.recall or 0) >= recall and (result.exact_span_rate or 0) >= recall
    assert (result.false_positive_rate or 1) <= false_positives


async def test_the_sealed_questions_are_judged_by_words_as_measured() -> None:
    folder = DATA / "sealed"
    classifier = offline_classifier("lexical", load_lines(folder / "lines.json"))
    result = await calibrate_classifier(classifier, folder / "classifier.jsonl")
    assert (result.accuracy or 0) >= 0.82
    assert (result.false_positive_rate or 1) <= 0.08
