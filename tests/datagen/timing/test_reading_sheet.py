"""Gate G6: the sheet on which readers tell generated days from written ones."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from atr_client.cli.timing_commands import timing
from atr_data.errors import DataError
from atr_data.timing import TimingError
from atr_datagen.timing.lexicon import load_lexicon
from atr_datagen.timing.reading_sheet import DayReading, Origin, make_sheet, shares_right
from tests.support.timing_sets import generated, saved_set

STREAMS = [user.stream for user in generated(2)]
ITEM = re.compile(r"\[([0-9a-f]{6})\]\n((?:\d\d:\d\d:\d\d \| [^|]+ \| .+\n)+)")


def test_a_sheet_shows_as_many_of_both_kinds_and_no_job_twice() -> None:
    made = make_sheet([*STREAMS, *STREAMS], 0)
    jobs = len({stream.header.source.parameters["job"] for stream in STREAMS})
    assert Counter(made.key.values()) == {"generated": jobs, "written": jobs}
    items = ITEM.findall(made.text)
    assert [code for code, _ in items] == sorted(made.key)
    assert all(len(lines.splitlines()) > 10 for _, lines in items)
    assert "u000" not in made.text
    assert make_sheet([*STREAMS, *STREAMS], 0) == made
    assert make_sheet([*STREAMS, *STREAMS], 1) != made


def test_a_sheet_leaves_out_self_help_and_planted_titles() -> None:
    shown = "".join(make_sheet(STREAMS, seed).text for seed in range(40))
    assert "asks the assistant" not in shown
    assert not any(title in shown for title in load_lexicon().injections)


LINE = "09:00:{:02d} | mail | Inbox (3) | reads on{}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# a trade\nrole: editor\n09:00 | mail | Inbox (3) | reads\n", "line 3: bad_config: an event"),
        ("09:00:00 | post | Inbox (3) | reads\n", "line 1: bad_config: an event"),
        ("09:00:00 | mail | Inbox (3)\n", "line 1: bad_config: an event"),
        ("".join(LINE.format(n, "") for n in range(13)) + "09:01:00 | mail | In | -\n", "13 events, 14"),
    ],
)  # fmt: skip
def test_a_written_day_that_cannot_be_shown_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "day.txt").write_text(text, encoding="utf-8")
    with pytest.raises(TimingError, match=said):
        make_sheet(STREAMS, 0, tmp_path)


def test_a_written_day_is_shown_in_windows_as_a_users_is(tmp_path: Path) -> None:
    lines = "".join(LINE.format(n, " | word for word" if n else "") for n in range(14))
    (tmp_path / "day.txt").write_text(f"# a trade\nrole: editor\n{lines}", encoding="utf-8")
    made = make_sheet(STREAMS, 0, tmp_path)
    shown = {code: text.splitlines() for code, text in ITEM.findall(made.text)}
    (written,) = (shown[code] for code, origin in made.key.items() if origin == "written")
    assert re.fullmatch(r"09:00:00 \| (\w+) \| Inbox \(3\) - \1 \| reads on", written[0])
    assert written[1].endswith("| reads on | word for word")
    assert len(written) == 14


def test_readers_are_scored_over_all_items_and_by_kind() -> None:
    key: dict[str, Origin] = {"1": "generated", "2": "written"}
    assert shares_right(key, [key])[0] == 1
    assert shares_right(key, [{"1": "written", "2": "generated"}])[0] == 0
    assert shares_right(key, [{}, {"1": "generated"}]) == (0.625, {"generated": 0.75, "written": 0.5})
    assert shares_right(key, [])[0] == 0


HEAD = "sheet: days\nreader: a test\nanswers:\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + "  '012345': human\n", "answers.012345"),
        (HEAD + "  '999999': written\n", "answers.999999: the key has no such item"),
        (HEAD + "  '012345': written\n  '012345': written\n", "012345"),
        (HEAD.replace("days", "tests") + "  '012345': written\n", "sheet"),
        (HEAD + "  - written\n", "answers"),
        ("written", "file"),
    ],
)
def test_an_answer_that_is_none_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "answers.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        DayReading.read(path, {"012345": "generated"})


def test_the_commands(tmp_path: Path) -> None:
    def run(*arguments: object):
        return CliRunner().invoke(timing, [str(argument) for argument in arguments])

    folder, key = saved_set(tmp_path / "set", 1), tmp_path / "key.json"
    made = run("sheet", folder, "--out", tmp_path / "sheet.txt", "--key", key)
    assert made.exit_code == 0, made.output
    known = json.loads(key.read_text("utf-8"))
    for name, said in (("right", known), ("wrong", dict.fromkeys(known, "generated"))):
        (tmp_path / name).mkdir()
        lines = "".join(f"  '{code}': {origin}\n" for code, origin in said.items())
        (tmp_path / name / "one.yaml").write_text(HEAD + lines, encoding="utf-8")
    passed = run("score-sheet", tmp_path / "wrong", "--key", key)
    assert (passed.exit_code, "50% right (generated 100%, written 0%)" in passed.output) == (0, True)
    scored = run("score-sheet", tmp_path / "right" / "one.yaml", "--key", key)
    assert (scored.exit_code, "G6 readers: 100% right" in scored.output) == (1, True)
    out = tmp_path / "none.txt"
    empty = run("sheet", folder, "--out", out, "--key", key, "--written", folder)
    assert (empty.exit_code, out.exists()) == (2, False)
    assert run("score-sheet", folder, "--key", key).exit_code == 2
    assert run("score-sheet", tmp_path / "right", "--key", tmp_path / "sheet.txt").exit_code == 2
