"""Stream and gold files say what is wrong with them, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from atr_data.errors import DataError
from atr_data.timing import TimingError, load_gold, load_stream, save_gold, save_stream
from atr_data.timing.priors import app_habit, count_priors
from atr_data.timing.set_folder import load_set, save_index, save_user
from tests.support.timing_sets import event, generated, need, tiny_gold, tiny_stream

STREAM = tiny_stream([event(0), event(30), event(60, self_help=True), event(90)])
GOLD = tiny_gold(STREAM, need(60, opens=0, intent="coding"))


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text(
        "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines), encoding="utf-8"
    )


def saved(tmp_path: Path) -> Path:
    path = tmp_path / "ada.stream.jsonl"
    save_stream(STREAM, path)
    return path


def test_what_is_saved_is_loaded_again(tmp_path: Path) -> None:
    path = saved(tmp_path)
    save_gold(GOLD, tmp_path / "gold.jsonl")
    assert load_stream(path) == STREAM
    assert load_gold(tmp_path / "gold.jsonl", STREAM) == GOLD


def test_no_temporary_file_is_left(tmp_path: Path) -> None:
    saved(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["ada.stream.jsonl"]


@pytest.mark.parametrize(
    ("line", "change", "said"),
    [
        (3, {"event_id": "e0"}, "occurs twice"),
        (3, {"t_release": "2031-03-03T08:00:00Z"}, "not sorted"),
        (2, {"t_end": "2031-03-03T08:00:00Z"}, "t_end lies before t_start"),
        (4, {"t_start": "2031-03-03T09:01:00"}, "timezone"),
        (5, {"mood": "good"}, "mood"),
        (2, {"user_id": "Ada!"}, "user_id"),
        (2, {"user_id": "bob"}, "in the stream of"),
        (2, {"app": "x" * 201}, "app"),
        (1, {"sha256": "0" * 64}, "sha256"),
        (1, {"schema_version": "timing-1"}, "schema_version"),
    ],
)
def test_a_bad_stream_is_refused_with_its_line(
    tmp_path: Path, line: int, change: dict[str, str], said: str
) -> None:
    path = saved(tmp_path)
    lines = lines_of(path)
    lines[line - 1] |= change
    write_lines(path, lines)
    with pytest.raises(TimingError, match=said) as caught:
        load_stream(path)
    assert (caught.value.code, caught.value.line) == ("bad_stream", line)
    assert f"line {line}" in str(caught.value)


def test_a_changed_word_breaks_the_hash(tmp_path: Path) -> None:
    path = saved(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("notes.odt", "notes.ods", 1), encoding="utf-8")
    with pytest.raises(TimingError, match="do not match the sha256"):
        load_stream(path)


@pytest.mark.parametrize("text", ["", "{}\n", "nonsense\n", "\x00"])
def test_an_empty_or_broken_file_is_a_bad_stream(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TimingError) as caught:
        load_stream(path)
    assert caught.value.code == "bad_stream"


def test_a_header_without_events_is_a_bad_stream(tmp_path: Path) -> None:
    path = saved(tmp_path)
    write_lines(path, lines_of(path)[:1])
    with pytest.raises(TimingError, match="holds no events"):
        load_stream(path)


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(TimingError, match="cannot be read"):
        load_stream(tmp_path / "none.jsonl")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(TimingError, match="not UTF-8"):
        load_stream(tmp_path / "bytes")


def test_gold_of_another_stream_is_a_mismatch(tmp_path: Path) -> None:
    other = tiny_stream([event(0), event(31)])
    save_gold(GOLD, tmp_path / "gold.jsonl")
    with pytest.raises(TimingError) as caught:
        load_gold(tmp_path / "gold.jsonl", other)
    assert caught.value.code == "gold_mismatch"


def test_changed_gold_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    save_gold(GOLD, path)
    path.write_text(path.read_text(encoding="utf-8").replace('"coding"', '"advice"'), encoding="utf-8")
    with pytest.raises(TimingError, match="sha256"):
        load_gold(path, STREAM)


def test_an_event_ends_after_it_starts() -> None:
    with pytest.raises(ValidationError):
        event(0).model_validate(event(0).model_dump() | {"t_end": event(-5).t_end})


def test_a_set_comes_back_whole_and_a_swapped_stream_is_noticed(tmp_path: Path) -> None:
    save_user(STREAM, GOLD, tmp_path)
    with pytest.raises(DataError):
        load_set(tmp_path)
    save_index({"ada": STREAM.header.sha256}, tmp_path)
    (only,) = load_set(tmp_path)
    assert (only.stream, only.gold) == (STREAM, GOLD)
    save_index({"ada": "1" * 64}, tmp_path)
    with pytest.raises(TimingError, match="is not the stream"):
        load_set(tmp_path)


def test_priors_count_only_days_strictly_before() -> None:
    user = generated(1)[0]
    counts = count_priors(user.stream, user.gold).counts
    first = counts[0].day
    assert app_habit(counts, counts[0].app, first).help_rate is None
    last = max(count.day for count in counts)
    habit = app_habit(counts, counts[0].app, last)
    assert habit.events == sum(c.events for c in counts if c.app == counts[0].app and c.day < last)
    assert sum(habit.intent_shares.values()) == pytest.approx(1, abs=0.01)
