"""Sheets without keys, answers, and the scores that become gates B1 to B4."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from atr_client.cli.app import main
from atr_data import DataError
from atr_datagen.readings.answers import Reading
from atr_datagen.readings.calibration_set import classifier_lines, router_lines
from atr_datagen.readings.score import mark, score
from atr_datagen.readings.sheet import KINDS, Item, Kind, Sheet, letters_of, make_sheet
from atr_datagen.source.compile import redrawn
from atr_datagen.source.draw_faces import Salt
from atr_user_sim.calibration.measure import ClassifierQuestion, RouterTurn
from tests.support.sources import SOURCE, compiled, edited


def sheet(kind: Kind) -> Sheet:
    return make_sheet([compiled()], kind)


def answered(
    kind: Kind, choose: Callable[[Item], str], folder: Path, manner: str = "natural", name: str = "r"
) -> Reading:
    lines = "\n".join(f"  {item.code}: {choose(item)}" for item in sheet(kind).items)
    path = folder / f"{name}.yaml"
    path.write_text(
        f"sheet: {kind}\nreader: a program\nmanner: {manner}\nanswers:\n{lines}\n", encoding="utf-8"
    )
    return Reading.read(path)


def right(item: Item) -> str:
    letter = next(letter for letter, value in letters_of(item) if value in item.right)
    return f"{letter} confirm" if item.confirms else letter


def blind(item: Item) -> str:
    return next(letter for letter, value in letters_of(item) if value in item.blind)


def gates(kind: Kind, *readings: Reading) -> dict[str, bool]:
    return {gate.gate: gate.ok for gate in score([mark(sheet(kind), reading) for reading in readings])}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sheet_holds_no_key_and_no_name(kind: Kind) -> None:
    text = sheet(kind).text()
    one = compiled()
    for test in one.tests:
        assert test.rule_id not in text and test.rule.key not in text
        assert not any(r.id in text for r in test.world.references)
        told = [face.block.answer in text for face in test.faces]
        assert told.count(True) == (kind == "tests-with-rules")
    assert "pavla" not in text.lower()
    assert len(sheet(kind).items) == (4 if kind == "learning" else 5)


def test_items_are_shuffled_and_called_by_what_they_show(tmp_path: Path) -> None:
    codes = [item.code for item in sheet("tests").items]
    assert codes == sorted(codes) and len(set(codes)) == 5
    changed = make_sheet([compiled(edited(tmp_path, ("arrived cracked.", "arrived broken.")))], "tests")
    assert len(set(codes) - {item.code for item in changed.items}) == 1


def test_without_rules_the_sheet_is_the_same_whatever_face_is_drawn() -> None:
    drawn = redrawn([compiled()], 0, Salt("forty owls in a belfry"))
    assert make_sheet(drawn, "tests").text() == sheet("tests").text()
    assert make_sheet(drawn, "tests-with-rules").text() != sheet("tests-with-rules").text()


def test_one_rule_alone_may_be_asked_for() -> None:
    (item,) = make_sheet([compiled()], "tests", "pen_first").items
    assert sorted(item.options) == ["draft_message", "send_draft", "send_message"]
    (item,) = make_sheet([compiled()], "learning", "pen_first").items
    assert item.text.startswith("Opening: A supplier wants a reply")


def test_a_confirm_test_looks_like_one_that_chooses_an_object() -> None:
    (item,) = make_sheet([compiled()], "tests", "first_look").items
    assert "Call: set_reminder(target_id=?)" in item.text and len(item.options) == 2


def test_readers_who_are_right_pass_b1_b3_and_b4(tmp_path: Path) -> None:
    one = answered("tests-with-rules", right, tmp_path)
    found = gates("tests-with-rules", one, one)
    assert found["B1 rule given"] and found["B1 confirm"] and found["B3 two readers agree"]
    assert gates("learning", answered("learning", right, tmp_path)) == {"B4 tool family": True}


def test_readers_of_different_items_neither_agree_nor_differ(tmp_path: Path) -> None:
    whole = answered("tests-with-rules", right, tmp_path)
    codes = sorted(whole.answers)
    parts = [
        replace(whole, answers={code: whole.answers[code] for code in part})
        for part in (codes[:2], codes[2:])
    ]
    assert "B3 two readers agree" not in gates("tests-with-rules", *parts)


def test_a_confirm_rule_passes_only_with_the_word(tmp_path: Path) -> None:
    one = answered("tests-with-rules", lambda item: right(item)[0], tmp_path)
    found = gates("tests-with-rules", one, one)
    assert not found["B1 rule given"] and not found["B1 confirm"] and found["B1 param_id"]
    assert not found["B3 two readers agree"]


def test_wrong_answers_to_told_rules_name_the_item(tmp_path: Path) -> None:
    one = answered("learning", lambda item: "Z", tmp_path)
    (gate,) = score([mark(sheet("learning"), one)])
    assert not gate.ok and any("Opening: Something I bought has to go back" in f for f in gate.failures)


def test_a_natural_reader_may_be_blind_and_not_right(tmp_path: Path) -> None:
    assert all(gates("tests", answered("tests", blind, tmp_path)).values())
    found = gates("tests", answered("tests", right, tmp_path))
    assert not found["B2 param_id"] and not found["B2 confirm"]


def test_a_hostile_reader_is_held_to_the_bound_that_fits_the_manner(tmp_path: Path) -> None:
    calm = answered("tests", lambda item: right(item)[0], tmp_path, "hostile")
    (gate, told) = score([mark(sheet("tests"), calm)])
    assert (gate.gate, gate.ok) == ("B2h hostile", False) and "0.800, at most 0.755" in str(gate)
    asking = answered("tests", lambda item: f"{blind(item)} confirm", tmp_path, "hostile")
    (gate, told) = score([mark(sheet("tests"), asking)])
    assert gate.ok and "at most 0.980" in str(gate)
    assert "asks first in 1.00 of confirm tests, 1.00 of others" in str(told)


def test_answers_to_items_that_have_changed_are_told_and_left_out(tmp_path: Path) -> None:
    one = answered("tests", blind, tmp_path)
    lines = one.file.read_text(encoding="utf-8").splitlines()
    one.file.write_text("\n".join([*lines[:-1], "  ffffff: A"]) + "\n", encoding="utf-8")
    (first, *_) = score([mark(sheet("tests"), Reading.read(one.file))])
    assert "1 items unanswered, 1 answers to items that have changed" in str(first)


BAD = [
    ("sheet: tests", "sheet: test", "sheet: input should be 'tests'"),
    ("reader: a program\n", "", "reader: field required"),
    ("manner: natural", "manner: sly", "manner: input should be 'natural' or 'hostile'"),
    (": A\n", ": a or b\n", "is 'a or b'; write a letter, or B confirm"),
    ("answers:", "answers: [", "not YAML"),
]


@pytest.mark.parametrize(("old", "new", "reason"), BAD, ids=[b[2][:20] for b in BAD])
def test_answers_of_another_form_are_one_line(tmp_path: Path, old: str, new: str, reason: str) -> None:
    path = answered("tests", lambda item: "A", tmp_path).file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        Reading.read(path)
    assert reason in str(caught.value) and "\n" not in str(caught.value)


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(["datagen", *map(str, arguments)])
    code = stopped.value.code or 0
    assert isinstance(code, int)
    return code


def test_the_commands_print_a_sheet_and_score_its_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("sheet", SOURCE, "--rules") == 0
    assert capsys.readouterr().out == sheet("tests-with-rules").text()
    assert call("sheet", SOURCE, "--learning", "--out", tmp_path / "sheet.txt") == 0
    assert (tmp_path / "sheet.txt").read_text(encoding="utf-8") == sheet("learning").text()
    (tmp_path / "answers").mkdir()
    answered("tests-with-rules", right, tmp_path / "answers", name="one")
    answered("tests-with-rules", right, tmp_path / "answers", name="two")
    capsys.readouterr()
    assert call("score-sheet", tmp_path / "answers", "--sources", SOURCE) == 0
    assert "B3 two readers agree        5/5  one and two" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("sheet", SOURCE, "--rules", "--learning"), "give --rules or --learning, not both"),
        (("sheet", SOURCE, "--rule", "pen_frist"), "no item for rule 'pen_frist'"),
        (("score-sheet", "nothing.yaml", "--sources", SOURCE), "cannot be read"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: tuple[object, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and reason in line


def test_question_lines_become_labelled_turns_with_persona_and_writer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("calibration-set", SOURCE, "--out", tmp_path) == 0
    classifier, router = (
        [json.loads(line) for line in (tmp_path / f"lines_{role}.jsonl").read_text().splitlines()]
        for role in ("classifier", "router")
    )
    assert (len(classifier), len(router)) == (50, 60)
    assert {(line["persona"], line["writer"]) for line in (*classifier, *router)} == {
        ("pavla_ondrus", "a"),
        ("pavla_ondrus", "b"),
    }
    assert [sum(line["kind"] == kind for line in classifier) for kind in ("plain", "asked", "not_asked")] == [
        10,
        20,
        20,
    ]
    for line in classifier:
        known = ClassifierQuestion.model_validate(line)
        assert (known.gold_rule_id is None) == (known.kind == "not_asked") and len(known.rule_pool) == 5
    for line in router:
        turn = RouterTurn.model_validate(line)
        assert turn.gold_is_strict_rule_question == (turn.kind == "question")
        assert (turn.gold_rule_question_span or "") in turn.output and turn.output
    assert list(classifier_lines([compiled()])) == classifier and list(router_lines([compiled()])) == router
