"""The static gates: a sound source passes all, and each of them can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atr_data import load_episode
from atr_data.english.words import MEASURES
from atr_data.episode import Episode
from atr_datagen.gates import episode_gates as gates
from atr_datagen.gates.episode_gates import cases
from atr_datagen.gates.overlap import Corpus, overlap
from atr_datagen.gates.report import CheckReport, GateResult
from atr_datagen.gates.static_gates import changed, check_sources, static_gates
from atr_datagen.source.compile import compile_sources, with_faces
from atr_datagen.text import flat, jaccard, words
from tests.support.sources import SOURCE, compiled, edited, failing, named


def test_a_sound_source_passes_every_gate() -> None:
    report = check_sources(SOURCE)
    assert (report.ok, failing(report)) == (True, [])
    totals = {gate.gate: (gate.passed, gate.total) for gate in report.gates}
    assert totals["S1 oracle"] == (1, 1)
    assert totals["S3 limits worded"] == (5, 5)
    assert totals["leak tool words"] == (2, 2) and totals["F4 sibling pinned"] == (1, 1)
    assert totals["S5 facts used"] == (4, 4)
    assert all(passed == total for passed, total in totals.values())


MILL = "    - [face,  mill, Mill Street Larder, 4.2, 34, unamplified hush]\n"
RAIL = "    - [pull,  rail, Railhead Grill, 4.8, 31, radio in every corner]\n"
IVY = "    - [limit, ivy, Ivy Court, 4.6, 55, jukebox by the bar]\n"
OAK = "    - [limit, oak, Oak Cellar, 4.0, 61, {}]\n"

FAILING = [
    ("bounds", "  town: Salina\n", "  town: Salina\n  one: a\n", "vocab.one: is used in 8"),
    ("bounds", "With chapel people", "With " + "very " * 25 + "chapel people", "answer: has 42 words"),
    (
        "bounds",
        "open: A supplier wants a reply",
        "open: A supplier of mine wants a reply and would like it soon",
        "open: has 12",
    ),
    ("bounds", ", send_now: yes, body_points", ", body_points", "know: has 2 facts; should have 3 to 8"),
    ("bounds", ", [cap, Wool cap, 18, o_cap]", "", "rows: has 1 objects; should have 2 to 6"),
    ("S2", "Railhead Grill, 4.8", "Railhead Grill, 4.4", "does not beat the gold of live on rating (high)"),
    ("S2", "31, radio in every corner", "44, radio in every corner", "breaks a limit (price_per_head <= 40)"),
    ("S2", "[pull,  rail,", "[near,  rail,", "no row is tagged pull"),
    ("S2", "[pull,  rail,", "[face,  rail,", "rail is tagged face, but is the gold of no face"),
    ("S2", "[face,  dove,", "[near,  dove,", "dove is tagged near, but meets face chosen"),
    ("S2", "[face,  dove,", "[null,  dove,", "every candidate needs a tag"),
    ("S2", "[limit, ivy,", "[off, ivy,", "0 rows are tagged limit; should be one or two"),
    (
        "S2",
        "55, jukebox by the bar",
        "55, brass band",
        "sound of ivy should be as in a row that passes; is brass",
    ),
    (
        "S2",
        IVY,
        IVY + OAK.format("jukebox by the bar"),
        "sound of oak is as in ivy; two limit rows carry different faces",
    ),
    (
        "S2",
        IVY,
        IVY + OAK.format("radio in every corner"),
        "oak carries no face; where two limit rows stand, both do",
    ),
    (
        "S2",
        MILL,
        MILL + "    - [off, crow, Crow, 4.0, 71, x]\n    - [off, gull, Gull, 4.0, 81, x]\n",
        "2 rows are tagged off",
    ),
    (
        "S2",
        "rule_is: [sound ~ hush]",
        "rule_is: [sound ~ hush, price_per_head <= 36]",
        "limits price_per_head, by which faces decide; a limit needs a field of its own",
    ),
    ("S3", "dinner under $40 a head", "dinner not too dear", "the instruction does not say '40'"),
    (
        "S3",
        "The chapel committee is in @town",
        "The chapel committee comes",
        "the instruction does not say 'Salina'",
    ),
    ("S3", "a head.", "a head, wine $12.", "says '$12', which is no must"),
    ("S3", "for 5 at 18:30", "for 5 at 18:30 or 19:15", "says '19:15', which is no must"),
    ("S3", "for 2027-03-20.", "for 2027-03-21.", "says '2027-03-21', which is no must"),
    (
        "S3",
        "Please get us a table",
        "At Ivy Court or elsewhere get us a table",
        "says 'Ivy Court', the name of some candidates",
    ),
    ("S4", "blind: {face: at_once}", "blind: archive_messages", "send_message are no rivals of each other"),
    (
        "F2 face not",
        "dinner under $40 a head.",
        "dinner under $40 a head, to choose a tune.",
        "the instruction shares choose, tune with face chosen alone",
    ),
    (
        "F2 face not",
        "arrived cracked. Please send it back.",
        "arrived cracked. Arrange an exchange.",
        "the instruction says 'exchange', which is face sound_one",
    ),
    (
        "F2 face not",
        "cru, Graphite crucible, 88,",
        "cru, Graphite crucible for refund, 88,",
        "the object acted on says 'refund', which is face money",
    ),
    (
        "F2 face not",
        "Trouble with the bell, t_club",
        "Sleep on these words, t_club",
        "the object acted on shares sleep, word with face overnight alone",
    ),
    (
        "F4",
        "target: {target_id: dean, cadence: daily}",
        "target: {target_id: dean, cadence: daily, remind_at: 2027-03-19T08:00}",
        "nudges leaves remind_at open, which this rule fixes",
    ),
    (
        "F4",
        "target: {target_id: furn}",
        "target: {target_id: furn, remind_at: 2027-04-01T08:00}",
        "nudges fixes remind_at, which this rule leaves open",
    ),
    (
        "F4",
        "The furnace inspection is in my calendar",
        "Something is in my calendar",
        "only the instruction of first_look says which target_id is meant by name",
    ),
    ("question lines", "    - Who pays the postage?\n", "", "not_asked: hand a has 1 lines; at least 2"),
    (
        "question lines",
        "    - Do you keep the box?",
        "    - How do you like faulty supplies settled?",
        "'How do you like faulty supplies settled?' stands under asked a too",
    ),
    ("question lines", "[timing, right away,", "[", "about.decision: has 8 terms; should have 10 to 30"),
    (
        "S5",
        "know: {name: Wool apron,",
        "know: {colour: grey, name: Wool apron,",
        "know.colour: is no argument",
    ),
    ("S5", "price: 35, resolution_type", "price: 36, resolution_type", "know.price: is no argument"),
    # The cap costs 18, but the order that is sent back is of the apron.
    ("S5", "price: 35, resolution_type", "price: 18, resolution_type", "know.price: is no argument"),
    ("S5", "distance_km_limit: 3", "distance_mi_limit: 3", "know.distance_mi_limit: is no argument"),
    ("S5", "body=*body_points", "body=Thanks", "know.body_points: is no argument"),
    ("S5", "send_now: yes", "write_now: yes", "know.write_now: is no argument"),
    (
        "S6",
        "open: A supplier wants a reply",
        "open: Words before I sleep on someone",
        "learning[3].open: shares sleep, someone, word",
    ),
    (
        "S6",
        "[beeswax came, same",
        "[bell of someone cracked, same",
        "know.body_points: shares bell, crack, someone with rule pen_first, face overnight",
    ),
    (
        "pool size",
        MILL,
        MILL + "    - [off, a, A, 4, 90, x]\n    - [off, b, B, 4, 90, x]\n    - [off, c, C, 4, 90, x]\n",
        "8 candidates",
    ),
    (
        "unchecked target",
        "    target: {order_id: o_cru}\n",
        "",
        "2 objects fit order_id; name the one meant under target",
    ),
    (
        "leak enum",
        "arrived cracked. Please send it back.",
        "arrived cracked. Arrange an exchange.",
        "the instruction says the gold, 'exchange'",
    ),
    ("leak tool", "Answer them that", "Draft a message that", "all words of the gold tool, draft_message"),
    (
        "leak rule",
        "[beeswax came, same",
        "[sleep bell words crack anywhere, same",
        "of rule pavla_ondrus_communication_01",
    ),
    (
        "leak opening",
        "open: Book me a haircut and watch it",
        "open: A haircut on 2027-01-14T10:00",
        "says the fact date_time",
    ),
]


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"), FAILING, ids=[f"{f[0]}-{f[3][:30]}" for f in FAILING]
)
def test_a_gate_fails_and_says_where_and_why(
    tmp_path: Path, name: str, old: str, new: str, reason: str
) -> None:
    path = edited(tmp_path, (old, new))
    report = check_sources(path)
    gate = named(report, name)
    assert not report.ok and gate.passed < gate.total
    assert any(reason in failure for failure in gate.failures), gate.failures
    assert all(failure.startswith(f"{path}:") for failure in gate.failures)
    assert any(line.startswith(f"{gate.gate}: {path}:") for line in report.lines())


def damaged(change: Callable[[dict[str, Any]], object]) -> CheckReport:
    one = compiled()
    episode = Episode.model_validate(one.episode).model_dump(mode="json")
    change(episode)
    spoilt = replace(one, episode=episode)
    return CheckReport(static_gates([spoilt], 0, None))


def test_the_structure_gate_fails_on_an_episode_that_does_not_fit_together() -> None:
    report = damaged(lambda e: e["learning_sessions"][2]["gold_trajectory"][0].update(tool="fly"))
    (failure,) = named(report, "structure").failures
    assert "learning[2]" in failure and "no tool 'fly'" in failure


def test_the_id_gate_fails_when_only_the_golds_id_shares_a_word_with_the_answer() -> None:
    data = Episode.model_validate(compiled().episode).model_dump(mode="json")
    test = data["test_sessions"][0]
    action = test["labels"]["task_success"]["required_actions"][0]
    gold = action["arguments"]["restaurant_id"]
    for reference in test["local_env"]["references"]:
        reference["id"] = "rst_chapel" if reference["id"] == gold else reference["id"]
    action["arguments"]["restaurant_id"] = "rst_chapel"
    (case, *_) = cases([Episode.model_validate(data)])
    assert [reason for _, reason in gates.id_shares_rule_word(case)] == [
        "the id of the gold shares a word with the answer"
    ]


def test_the_confirmation_gate_fails_when_the_tool_is_offered_only_where_it_is_the_answer() -> None:
    def withdraw(episode: dict[str, Any]) -> None:
        for index in (0, 2, 3, 4):
            episode["test_sessions"][index]["local_env"]["tools"].remove("get_user_confirmation")

    assert len(named(damaged(withdraw), "leak confirm").failures) == 1


def test_the_compile_gate_fails_when_the_second_run_differs_and_when_the_loader_does_not_read_all() -> None:
    report = damaged(lambda e: e["metadata"].update(seed=9))
    assert [f.partition("file: ")[2] for f in named(report, "E5").failures] == [
        "compiles to other bytes the second time"
    ]
    report = damaged(lambda e: e.update(colour="red"))
    assert "colour is not read by the loader" in named(report, "E5").failures[1]


def test_values_that_are_not_read_back_are_named() -> None:
    written = {"a": 1, "b": [{"c": "x"}, 2], "d": [1], "unknown": 0}
    loaded = {"a": 1, "b": [{"c": "y"}, 2], "d": [1, 2], "more": 3}
    assert sorted(changed(written, loaded)) == ["b[0].c", "d"]


def test_means_are_judged_for_datasets_only() -> None:
    one = compiled()
    few = named(CheckReport(static_gates([one], 0, None)), "validity")
    many = named(CheckReport(static_gates([one] * 5, 0, None)), "validity")
    assert few.ok and few.note is not None and "not judged for 1 personas" in few.note
    assert not many.ok and many.total > few.total
    assert any("leak.rule_words_in_instruction_mean" in failure for failure in many.failures)


def first_faces() -> Any:
    one = compiled()
    return with_faces(one, {test.rule_id: 0 for test in one.tests}, 0).episode


def other_episode(**changes: Any) -> Episode:
    """A made-up episode of another dataset, with something of ours put into it."""
    base = Episode.model_validate(compiled().episode).model_dump(mode="json")
    base["raw_persona"] = {"persona_id": "una_berg", "narrative": "Una keeps goats."}
    base["structured_persona"] = {"name": "Una Berg"}
    base |= {"episode_id": "una_berg_seed000", "rules": [], "learning_sessions": [], "test_sessions": []}
    return Episode.model_validate({**base, **changes})


def found(other: Episode) -> list[str]:
    ours = Episode.model_validate(first_faces())
    return [f"{owner}: {reason}" for owner, reason in overlap(ours, Corpus.of([other]))]


def test_overlap_is_silent_about_another_dataset() -> None:
    assert found(other_episode()) == []


def test_overlap_finds_eight_words_in_a_row_and_not_seven() -> None:
    eight = "Well: nothing ELSE, with chapel people at the table I want to hear every word"
    narrative = {"persona_id": "una_berg", "narrative": eight}
    assert any(
        "pavla_ondrus_reservation_01: shares the words" in f
        for f in found(other_episode(raw_persona=narrative))
    )
    narrative = {"persona_id": "una_berg", "narrative": "With chapel people at the table I, too, sit"}
    assert found(other_episode(raw_persona=narrative)) == []


def test_overlap_finds_rules_that_are_alike() -> None:
    rule = Episode.model_validate(first_faces()).rules[2].model_dump()
    alike = {
        **rule,
        "rule_id": "una_berg_x_01",
        "rule_text": "Furnace cannot wait: swapped faulty foundry supplies.",
    }
    alike["canonical_answer"] = "Goats."
    assert found(other_episode(rules=[alike])) == [
        "pavla_ondrus_commerce_01: is more than 60% alike rule una_berg_x_01 of the other dataset"
    ]


def test_overlap_finds_people_and_ids(tmp_path: Path) -> None:
    session = Episode.model_validate(compiled().episode).learning_sessions[3].model_dump()
    lines = found(other_episode(learning_sessions=[session], structured_persona={"name": "Radomir Vesely"}))
    assert any("the id 'pavla_ondrus_s03'" in line for line in lines)
    assert any("the person 'wax@comb.example'" in line for line in lines)
    assert any("the person 'radomir vesely'" in line for line in lines)


def test_the_overlap_gate_runs_when_a_folder_is_given(tmp_path: Path) -> None:
    compile_sources(SOURCE, tmp_path)
    report = check_sources(SOURCE, official=tmp_path)
    assert (named(report, "O1").passed, named(report, "O1").total) == (0, 3)
    assert all(gate.gate != "O1 overlap" for gate in check_sources(SOURCE).gates)


def test_the_fixture_shares_nothing_with_the_official_episodes(official_dir: Path) -> None:
    report = check_sources(SOURCE, official=official_dir / "episodes")
    assert named(report, "O1").ok


def test_official_episodes_measure_as_the_reference_report_says(official_dir: Path) -> None:
    """The figures are those of the published validity report on the official release."""
    episodes = [load_episode(path) for path in sorted((official_dir / "episodes").glob("*.json"))]
    all_cases = cases(episodes)
    closed = [case for case in all_cases if case.rule.check_type in ("param_enum", "tool_identity")]
    pools = [len(gates.candidates(c)[0]) for c in all_cases if c.rule.check_type == "param_id"]
    sessions = [session for episode in episodes for session in episode.learning_sessions]

    def count(check: Any, things: Any) -> int:
        return sum(bool(list(check(thing))) for thing in things)

    assert count(gates.structure, episodes) == 0
    assert min(pools) == 3
    assert count(gates.unchecked_target, closed) / len(closed) == pytest.approx(0.848, abs=0.0005)
    assert count(gates.enum_literal_in_instruction, all_cases) == 0
    assert count(gates.tool_words_in_instruction, all_cases) == 0
    assert count(gates.id_shares_rule_word, all_cases) == 18
    assert count(gates.rule_in_learning, all_cases) == 5
    assert count(gates.opening_reveals_fact, sessions) == 1
    assert len(list(gates.confirmation_listed_evenly(all_cases))) == 1


def test_a_report_counts_what_passed_and_lists_what_failed() -> None:
    report = CheckReport([GateResult("A", 2, 2), GateResult("B", 1, 2, ("f:1: k: r",), "noted")])
    assert [line.split() for line in report.lines()] == [
        ["A", "2/2"],
        ["B", "1/2", "noted"],
        ["B:", "f:1:", "k:", "r"],
    ]
    assert not report.ok and CheckReport([GateResult("A", 0, 0)]).ok


def test_words_are_stems_of_content_words() -> None:
    assert words("She'd rather have 2 ponies, and the Boxes!") == {"shed", "pony", "box"}
    assert (MEASURES.stem("sing"), MEASURES.stem("rings"), MEASURES.stem("string")) == ("sing", "ring", "str")
    assert flat({"a": True, "low_fat": True, "b": False, "c": ["x_y", None, 3]}) == "a low fat  x y  3"
    assert (jaccard(words("a"), words("b")), jaccard(words("red fox"), words("red hen"))) == (0.0, 1 / 3)
