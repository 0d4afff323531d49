"""Gate G6: the sheet on which readers tell generated days from written ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from atr_client.cli.timing_commands import timing
from atr_data.timing import TimingError
from atr_datagen.timing.reading_sheet import WRITTEN, make_sheet, read_answers, share_right
from tests.support.timing_sets import generated, saved_set

STREAMS = [user.stream for user in generated(2)]
LINE = re.compile(r"    \d\d:\d\d:\d\d \| [^|]+ \| .+ \| .+")


def test_a_sheet_shows_both_kinds_alike_and_tells_nothing() -> None:
    made = make_sheet(STREAMS, 0)
    assert sorted(made.key.values()).count("generated") * 2 == len(made.key)
    items = made.text.split("## Item ")[1:]
    assert len(items) == len(made.key) == 2 * len(list(WRITTEN.glob("*.txt")))
    for item in items:
        lines = item.strip().splitlines()[2:]
        assert len(lines) > 10
        assert all(LINE.fullmatch(line) for line in lines), item
    assert "u000" not in made.text
    assert make_sheet(STREAMS, 0) == made
    assert make_sheet(STREAMS, 1).key != made.key or make_sheet(STREAMS, 2).key != made.key


def test_readers_are_scored_over_all_items() -> None:
    key = {"1": "generated", "2": "written"}
    assert share_right(key, [dict(key)]) == 1
    assert share_right(key, [{"1": "written", "2": "generated"}]) == 0
    assert share_right(key, [{}, dict(key)]) == 0.75
    assert share_right(key, []) == 0


@pytest.mark.parametrize("line", ["1: human", "9: written", "1 written", "1: written\n1: written"])
def test_an_answer_that_is_none_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "answers.txt"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(TimingError, match="line") as caught:
        read_answers(path, {"1": "generated"})
    assert caught.value.code == "bad_config"


def test_the_commands(tmp_path: Path) -> None:
    def run(*arguments: object):
        return CliRunner().invoke(timing, [str(argument) for argument in arguments])

    folder, key = saved_set(tmp_path / "set", 1), tmp_path / "key.json"
    made = run("sheet", folder, "--out", tmp_path / "sheet.md", "--key", key)
    assert made.exit_code == 0, made.output
    known = json.loads(key.read_text("utf-8"))
    right = tmp_path / "right.txt"
    right.write_text("\n".join(f"{item}: {kind}" for item, kind in known.items()), encoding="utf-8")
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("\n".join(f"{item}: generated" for item in known), encoding="utf-8")
    assert run("score-sheet", wrong, "--key", key).exit_code == 0
    scored = run("score-sheet", right, "--key", key)
    assert (scored.exit_code, "100% right" in scored.output) == (1, True)
    out = tmp_path / "none.md"
    empty = run("sheet", folder, "--out", out, "--key", key, "--written", folder)
    assert (empty.exit_code, out.exists()) == (2, False)
