"""The ProAgentBench converter on databases made up for the test."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atr_client.cli.timing_commands import timing
from atr_data.timing import TimingError
from atr_data.timing.set_folder import load_set
from atr_datagen.timing.import_proagentbench import convert
from atr_datagen.timing.imported_rows import DATABASE
from atr_evaluator.timing import UserPlay, score_timing, snapshots

COLUMNS: list[str] = []
COLUMNS += "id start_time end_time app_name window_title is_llm_event".split()
COLUMNS += "event_summary ai_summary conversation".split()
Record = dict[str, Any]


def record(number: int, minute: float, *, asks: int = 0, seconds: int = 20, **fields: Any) -> Record:
    start = f"2025-05-05 {9 + int(minute) // 60:02d}:{int(minute) % 60:02d}:{int(minute % 1 * 60):02d}"
    end_second = int(minute * 60) + seconds
    end = f"2025-05-05 {9 + end_second // 3600:02d}:{end_second // 60 % 60:02d}:{end_second % 60:02d}"
    return {
        "id": number,
        "start_time": start,
        "end_time": end,
        "app_name": "Chrome",
        "window_title": f"page {number}",
        "is_llm_event": asks,
        "event_summary": None,
        "ai_summary": f"reads {number}",
        "conversation": None,
    } | fields


def working_day() -> list[Record]:
    """120 events, one a minute; an episode of help every 20 minutes."""
    return [record(n, n, asks=int(n % 20 in (10, 12))) for n in range(120)]


def database(
    folder: Path, records: Iterable[Record], columns: list[str] = COLUMNS, tables: str = "events screenshots"
) -> Path:
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / DATABASE) as made:
        if "events" in tables:
            made.execute(f"CREATE TABLE events ({', '.join(columns)})")
            marks = ", ".join("?" for _ in columns)
            for one in records:
                made.execute(f"INSERT INTO events VALUES ({marks})", [one[column] for column in columns])
        if "screenshots" in tables:
            made.execute("CREATE TABLE screenshots (event_id, file_path)")
            made.execute("INSERT INTO screenshots VALUES (3, 'shots/3b.png'), (3, 'shots/3a.png')")
    made.close()
    return folder.parent


def test_a_participant_becomes_a_stream_with_gold(tmp_path: Path) -> None:
    records = working_day()
    records[10]["conversation"] = json.dumps(
        [{"role": "system", "content": "x"}, {"role": "user", "content": "why is page 9 empty?"}]
    )
    records[5] |= {"event_summary": "writes a letter", "app_name": "WINWORD"}
    source = database(tmp_path / "src" / "Participant-01", records)
    (tmp_path / "intents.jsonl").write_text(
        '{"user": "Participant-01", "event_id": 10, "user_intention": "Error Correction"}\n', encoding="utf-8"
    )
    convert(source, tmp_path / "out", "Asia/Shanghai", intents=tmp_path / "intents.jsonl")
    (files,) = load_set(tmp_path / "out")
    stream, gold = files.stream, files.gold
    assert stream.header.user_id == "participant_01"
    assert stream.header.source.kind == "imported"
    assert [need.need_id for need in gold.needs] == [
        f"participant_01-n{n}" for n in (10, 30, 50, 70, 90, 110)
    ]
    first = gold.needs[0]
    assert (first.intent, first.query, first.t_cue, first.target) == (
        "error_correction",
        "why is page 9 empty?",
        None,
        None,
    )
    assert gold.needs[1].intent is None
    events = {event.event_id: event for event in stream.events}
    letter = events["participant_01-5"]
    assert (letter.app_category, letter.summary) == ("office", "writes a letter")
    assert letter.t_release == letter.t_end
    assert letter.t_start.isoformat() == "2025-05-05T09:05:00+08:00"
    assert events["participant_01-3"].screenshots == ("shots/3a.png", "shots/3b.png")
    assert events["participant_01-4"].summary == "reads 4"
    assert "empty?" not in stream.model_dump_json()


def test_a_consultation_stays_hidden_until_its_need_is_past(tmp_path: Path) -> None:
    records = working_day()
    records[10] |= {"end_time": records[10]["start_time"].replace(":00", ":04", 1)[:17] + "05"}
    source = database(tmp_path / "src" / "p", records)
    convert(source, tmp_path / "out", "UTC")
    (files,) = load_set(tmp_path / "out")
    asked = {event.event_id: event for event in files.stream.events if event.self_help}
    for need in files.gold.needs:
        event = asked[need.need_id.replace("-n", "-")]
        assert (event.t_release - need.t_onset).total_seconds() > 15


def test_imports_can_be_scored_and_cut_into_snapshots(tmp_path: Path) -> None:
    source = database(tmp_path / "src" / "p", working_day())
    convert(source, tmp_path / "out", "UTC")
    (files,) = load_set(tmp_path / "out")
    result = score_timing([UserPlay(files.stream, files.gold, ())])
    assert result["needs"] >= 1
    assert result["R_T_ceiling"] == 0
    items = snapshots(files.stream, files.gold)
    assert sum(item.wanted for item in items) * 2 == len(items) > 0
    for sitting in files.stream.sitting_events().values():
        assert sum(not event.self_help for event in sitting) <= 60


def test_short_long_excluded_and_broken_rows_are_counted(tmp_path: Path) -> None:
    records = working_day() + [record(n, 400 + n / 10) for n in range(200, 280)]
    records[0] = record(0, 0, seconds=2)
    records[1] |= {"end_time": "2025-05-05 12:30:00"}
    records[2] |= {"start_time": "yesterday"}
    records[3] |= {"end_time": "2025-05-04 09:00:00"}
    (tmp_path / "out_list").write_text("4\n5\n", encoding="utf-8")
    source = database(tmp_path / "src" / "p", records)
    _, counts = convert(source, tmp_path / "out", "UTC", exclude=tmp_path / "out_list")
    assert counts == {
        "under 3 s": 1,
        "over 1 h, kept": 1,
        "unparsable time": 1,
        "end before start": 1,
        "excluded": 2,
    }


def test_too_many_broken_rows_are_an_error(tmp_path: Path) -> None:
    records = working_day()
    for number in (2, 3):
        records[number] |= {"start_time": "yesterday"}
    source = database(tmp_path / "src" / "p", records)
    with pytest.raises(TimingError, match="2 of 120 rows of table events unusable: 2 unparsable time"):
        convert(source, tmp_path / "out", "UTC")


@pytest.mark.parametrize(
    "column", ["id", "start_time", "end_time", "app_name", "window_title", "is_llm_event"]
)
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    columns = [name for name in COLUMNS if name != column]
    source = database(tmp_path / "src" / "p", working_day(), columns)
    with pytest.raises(TimingError, match=f"table events lacks column {column}") as caught:
        convert(source, tmp_path / "out", "UTC")
    assert caught.value.code == "import_error"
    assert not (tmp_path / "out").exists()


def test_optional_columns_may_be_missing(tmp_path: Path) -> None:
    source = database(tmp_path / "src" / "p", working_day(), COLUMNS[:6])
    convert(source, tmp_path / "out", "UTC")
    assert load_set(tmp_path / "out")[0].stream.events[0].summary is None


@pytest.mark.parametrize("tables", ["events", "screenshots"])
def test_a_missing_table_is_named(tmp_path: Path, tables: str) -> None:
    source = database(tmp_path / "src" / "p", working_day(), tables=tables)
    missing = "screenshots" if tables == "events" else "events"
    with pytest.raises(TimingError, match=f"no table {missing}"):
        convert(source, tmp_path / "out", "UTC")


def test_missing_folders_and_unreadable_databases(tmp_path: Path) -> None:
    with pytest.raises(TimingError, match="no participant's folder"):
        convert(tmp_path / "none", tmp_path / "out", "UTC")
    (tmp_path / "src" / "p").mkdir(parents=True)
    with pytest.raises(TimingError, match=DATABASE):
        convert(tmp_path / "src", tmp_path / "out", "UTC")
    (tmp_path / "src" / "p" / DATABASE).write_bytes(b"not a database at all" * 100)
    with pytest.raises(TimingError, match="cannot be read as a database"):
        convert(tmp_path / "src", tmp_path / "out", "UTC")
    with pytest.raises(TimingError, match="no time zone"):
        convert(tmp_path / "src", tmp_path / "out", "Nowhere/Land")


def test_one_bad_participant_means_that_nothing_is_written(tmp_path: Path) -> None:
    database(tmp_path / "src" / "a", working_day())
    source = database(tmp_path / "src" / "b", working_day(), COLUMNS[1:])
    with pytest.raises(TimingError):
        convert(source, tmp_path / "out", "UTC")
    assert not (tmp_path / "out").exists()


def test_unknown_intent_labels(tmp_path: Path) -> None:
    source = database(tmp_path / "src" / "p", working_day())
    intents = tmp_path / "intents.jsonl"
    intents.write_text('{"user": "p", "event_id": "10", "user_intention": "Gossip"}\n', encoding="utf-8")
    with pytest.raises(TimingError, match="unknown intent label 'Gossip'") as caught:
        convert(source, tmp_path / "out", "UTC", intents=intents)
    assert caught.value.line == 1
    _, counts = convert(source, tmp_path / "out", "UTC", intents=intents, lenient=True)
    assert counts["unknown intent, taken as uncategorized"] == 1
    assert load_set(tmp_path / "out")[0].gold.needs[0].intent == "uncategorized"


def test_the_database_is_not_changed_and_the_licence_is_told(tmp_path: Path) -> None:
    source = database(tmp_path / "src" / "p", working_day())
    before = (source / "p" / DATABASE).read_bytes()
    arguments = ["import-proagentbench", str(source), "--out", str(tmp_path / "out"), "--tz", "UTC"]
    result = CliRunner().invoke(timing, arguments)
    assert result.exit_code == 0, result.output
    assert "research only" in result.output
    assert (source / "p" / DATABASE).read_bytes() == before
    assert [path.name for path in (source / "p").iterdir()] == [DATABASE]
    refused = CliRunner().invoke(timing, [*arguments[:-1], "Nowhere/Land"])
    assert refused.exit_code == 2
