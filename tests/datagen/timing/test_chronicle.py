"""Chronicles: what is read and what refused, what a writer is told, under which names they are played."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from atr_client.cli.timing_commands import timing
from atr_data.timing import TimingError
from atr_datagen.timing.cast import POOLS, Casting, exchanged
from atr_datagen.timing.chronicle import Person
from atr_datagen.timing.chronicle_gates import hints, remark_faults, repeats, shortfalls
from atr_datagen.timing.lexicon import PUBLIC_LEXICON, load_words
from atr_datagen.timing.read_chronicle import read_chronicle
from atr_datagen.timing.read_remarks import with_remarks

WORDS = load_words()
KINDS = WORDS.kinds
EXAMPLE = Path(__file__).parent / "allotments" / "chronicles" / "allotments.txt"
REMARKS = Path(__file__).parent / "allotments" / "remarks" / "allotments.txt"
PUBLISHED = sorted(path.stem for path in (PUBLIC_LEXICON / "chronicles").glob("*.txt"))


def test_a_chronicle_is_read_as_it_is_written() -> None:
    found = read_chronicle(EXAMPLE, KINDS)
    (day,) = found.days
    assert (found.role, len(found.kinds), len(found.staff), len(found.outside)) == ("planner", 10, 3, 3)
    assert (len(day.lines), day.lunch, 6 in day.rests) == (26, 25, True)
    assert found.loose[0][0] == "information_lookup"
    assert found.follow[0] == "shorter"
    pump, rents = day.plots
    assert (pump.thing, pump.detail, pump.target) == ("Oxnam pump", "page 2", "offer_oxnam_pump.pdf")
    assert (pump.first, pump.last, rents.first) == (6, 10, 16)
    assert pump.more[0] == "and what if we leave out the hose"
    assert set(pump.asks) == set(KINDS["offers_compared"].intents)
    assert [line.remarks for line in day.lines[6:11]] == [[], [], ["audience"], [], ["urgency"]]
    assert [line.long for line in day.lines[6:9]] == [False, True, False]


@pytest.mark.parametrize("job", PUBLISHED)
def test_the_published_chronicles_hold(job: str) -> None:
    chronicle, remarks = (PUBLIC_LEXICON / name / f"{job}.txt" for name in ("chronicles", "remarks"))
    found = with_remarks(read_chronicle(chronicle, KINDS), remarks, KINDS, WORDS.values)
    faults = (*shortfalls(found), *repeats(found), *remark_faults(found))
    assert [fault.reason for fault in faults] == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kinds: offers_compared", "kinds: offers_counted", "names 10 kinds"),
        ("kinds: offers_compared", "kinds: blank_page", "offers_compared is not among"),
        ("Ottoline Marsk f", "Ottoline f", "is not 'First Last f'"),
        ("Gudrun Achtley f", "Gudrun Marsk f", "marsk is a name twice"),
        ("job: secretary", "work: secretary", "the head lacks 'job:'"),
        ("?? advice", "?? gossip", "line 8: bad_config: unknown intent 'gossip'"),
        ("++ shorter", "shorter", "before the first '== day'"),
        ("mail | Inbox (9) | nine", "post | Inbox (9) | nine", "an event is 'CATEGORY"),
        ("(2 of 5)", "(6 of 5)", "a page beyond the last"),
        ("(6 of 14)", "page 6", "ends with (PAGE of PAGES)"),
        ("office | waiting_list.ods |", "office | waiting list |", "a file with its ending"),
        ("a fortnight late", "a fortnight late, on Tuesday", "'Tuesday': write {0}"),
        ("takes out the Ferrand entry", "takes out {owner}", "nothing fills {owner} here"),
        ("takes out the Ferrand entry", "takes out {n}", "nothing fills {n} here"),
        ("chat | Gudrun Achtley | tells", "chat | Gudrun A {audience} | tells", "not in titles"),
        ("? advice: would you", "? translation: would you", "one '?' line for each"),
        ("page 2 of oxnam against", "{urgency} against", "no marks"),
        (" / which one breaks first / put that in a table", "", "three follow-ups"),
        ("| {audience}", "| {owner}", "not owner"),
        ("| {audience}", "| -", "one mark of"),
        ("| {audience}", "| {audience} {audience}", "one remark for one event"),
        ("| {audience}", "| {audience}, {urgency}", "one remark for one event"),
        ("sum_off | lower rents, 42.50 |", "offers_compared | Oxnam pump, page 2 |", "2 scenes are"),
        ("| Larch pump, page 4 |", "| Larch pump page 4 |", "parted by a comma"),
        ("| Larch pump, page 4 |", "", "'<< KIND | THING, DETAIL"),
        ("| Oxnam pump, page 2 |", "| Oxnam pump, page 22 |", "'page 22' stands in no event"),
        ("| Larch pump, page 4 |", "| Beech pump, page 4 |", "'beech' stands in no event"),
        ("| Larch pump, page 4 |", "| Oxnam hose, page 4 |", "begin with different words"),
        ("| offer_oxnam_pump.pdf\\n", "| offer_elm_pump.pdf\\n", "in focus in no event"),
        ("~reader | offer_oxnam_pump.pdf", "\\n~reader | offer_oxnam_pump.pdf", "is closed with >>"),
        ("\\n>>\\noffice | offers_pump", "\\noffice | offers_pump", "is closed with >>"),
        ("mail | Upper field, rents", "== day\\nmail | Upper field, rents", "1 ordinary events"),
    ],
)  # fmt: skip
def test_a_chronicle_that_no_stream_can_be_made_of_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    text = EXAMPLE.read_text("utf-8")
    old, new = old.replace("\\n", "\n"), new.replace("\\n", "\n")
    assert old in text
    path = tmp_path / "one.txt"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(TimingError, match=re.escape(said)) as caught:
        read_chronicle(path, KINDS)
    assert caught.value.code == "bad_config"


def test_the_second_value_is_told_at_the_end_of_a_scene(tmp_path: Path) -> None:
    text = EXAMPLE.read_text("utf-8")
    first, last = "chat | Gudrun Achtley | tells", "mail | Inbox (6) | {urgency}"
    lines = text.splitlines()
    place, end = (next(n for n, line in enumerate(lines) if line.startswith(part)) for part in (first, last))
    lines.insert(place, lines.pop(end))
    path = tmp_path / "one.txt"
    path.write_text("\n".join([*lines[: end + 1], "files | pumps | -", *lines[end + 1 :]]), encoding="utf-8")
    with pytest.raises(TimingError, match="the last event of the scene or the last but one"):
        read_chronicle(path, KINDS)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("rents, 42.50", "rents, 42.51", "line 11: bad_config: no scene of the chronicle is 'sum_off"),
        ("<< sum_off | lower rents, 42.50\n", "", "offers_compared states no place laptop"),
        ("# A wording", "urgency open: a // b\n# A wording", "before the first '<<"),
        ("urgency open:", "urgency hours:", "urgency hours stands here twice"),
        ("urgency open:", "urgency never:", "urgency open has no remark"),
        ("urgency open:", "stage end:", "urgency open has no remark"),
        ("audience team: let", "stage end: a // b\naudience team: let", "states no stage end"),
        (" // pin it up in the shed then", "", "a remark is 'ATTRIBUTE VALUE"),
        ("both by {+2}", "both by {-0}", "nothing fills {-0} here"),
        ("both by {+2}", "both by Friday", "'Friday': write {0}"),
        ("<< sum_off", "<< offers_compared | Oxnam pump, page 2\n<< sum_off", "already, on line 3"),
    ],
)  # fmt: skip
def test_remarks_that_a_chronicle_cannot_have_are_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    text = REMARKS.read_text("utf-8")
    assert old in text
    path = tmp_path / "remarks.txt"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(TimingError, match=re.escape(said)) as caught:
        with_remarks(read_chronicle(EXAMPLE, KINDS), path, KINDS, WORDS.values)
    assert (caught.value.code, caught.value.path) == ("bad_config", path)


def test_a_scene_without_remarks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "remarks.txt"
    path.write_text(REMARKS.read_text("utf-8").split("<< sum_off")[0], encoding="utf-8")
    with pytest.raises(TimingError, match=r"lower rents, 42\.50' has no remarks"):
        with_remarks(read_chronicle(EXAMPLE, KINDS), path, KINDS, WORDS.values)


def test_a_writer_is_told_what_is_wrong_with_remarks(tmp_path: Path) -> None:
    def reasons(old: str, new: str, job: Path = EXAMPLE, remarks: Path = REMARKS) -> list[str]:
        text = remarks.read_text("utf-8")
        path = tmp_path / "remarks.txt"
        path.write_text(re.sub(old, new, text), encoding="utf-8")
        found = with_remarks(read_chronicle(job, KINDS), path, KINDS, WORDS.values)
        return [fault.reason for fault in remark_faults(found)]

    twice = "dont write anything up for me, bin it when you know"
    assert reasons("pin it up in the shed then", twice) == [f"said 2 times: {twice}"]
    (long,) = reasons("no day named by the chairman", "x" * 150)
    assert long.startswith("urgency open is 31 letters too long: xxx")
    job, remarks = (PUBLIC_LEXICON / name / f"{PUBLISHED[0]}.txt" for name in ("chronicles", "remarks"))
    (shared,) = reasons(r"(stage end: .*) // (.*)", r"\1 zugzwang // \2 zugzwang", job, remarks)
    assert re.search(r"^stage end: 1\.00 of one kind .* in both kinds, 0\.2 may: zugzw", shared)


def test_a_writer_is_told_what_is_missing_and_what_is_said_too_often(tmp_path: Path) -> None:
    def run(*arguments: object) -> tuple[int, str]:
        done = CliRunner().invoke(timing, ["chronicle", *map(str, arguments)])
        return done.exit_code, done.output

    code, said = run(EXAMPLE, "--part", "--show", 2)
    assert code == 0
    assert "~ day 1 has 26 events, 160 to 215" in said
    assert "offers_compared, line 21: urgency" in said
    assert "{" not in said
    code, said = run(EXAMPLE)
    assert code == 1
    assert "! day 1 has 26 events, 160 to 215" in said
    path = tmp_path / "one.txt"
    line = "office | plot_rents.ods | rents of the lower field once more\n"
    path.write_text(EXAMPLE.read_text("utf-8") + 3 * line, encoding="utf-8")
    code, said = run(path, "--part")
    assert code == 1
    assert "'of the lower field once' comes 3 times" in said
    assert "'rents of the lower field once more' is said 3 times" in said


def test_names_that_may_be_words_are_pointed_out() -> None:
    said = [fault.reason for fault in hints(read_chronicle(EXAMPLE, KINDS))]
    assert "Vansell does not occur" not in said
    assert "Ilka does not occur" in said
    assert "oxnam also stands in lower case: is it the name?" in said


def test_names_are_exchanged_word_by_word_in_their_case() -> None:
    names = {"oxnam": "Ormsund", "ilka": "Ida"}
    text = "offer_oxnam_pump.pdf, Oxnam's, the Oxnams, OXNAM, #oxnam-pump, oxnamed, Ilka"
    other = "offer_ormsund_pump.pdf, Ormsund's, the Ormsunds, ORMSUND, #ormsund-pump, oxnamed, Ida"
    assert exchanged(text, names) == other


def test_a_name_goes_to_one_of_its_initial_and_to_no_word_of_the_text() -> None:
    people = [Person("Ilka", "Oxnam", "f"), Person("Bertil", "Oddby", "m")]
    casting = Casting(Random(0), {"ida"})
    dealt = [casting.of(people, {"Birger"}) for _ in range(4)]
    assert [names["ilka"] for names in dealt[::2]] != [names["ilka"] for names in dealt[1::2]]
    assert {names["ilka"] for names in dealt} <= {name for name in POOLS["f"] if name[0] == "I"} - {"Ida"}
    assert len({names["oxnam"] for names in dealt}) == 4
    assert all(name[0] == other[0].lower() for names in dealt for name, other in names.items())
    assert all(names["bertil"] != "Birger" and len(set(names.values())) == 4 for names in dealt)
