"""What a reader takes in at most, and that failures to write say which file they are about."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from atr_data import DataError, load_episode, load_trajectory, select_episodes, validate_episode
from atr_data.calls import CallLog, SessionStart, read_calls
from atr_data.files import write_atomic
from atr_data.limits import is_storable
from atr_data.reading import MAX_NESTING, Missing, Unreadable, read_bytes, read_json, read_records, read_text
from atr_data.yaml_reading import read_yaml
from tests.support import damage
from tests.support.cells import small_episode


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("kind", damage.JSON)
def test_json_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.json"
    damage.JSON[kind](path)
    if kind in ("a list", "a number", "null"):
        assert read_json(path) in ([1], 5, None)
        return
    with pytest.raises(Unreadable) as caught:
        read_json(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, Missing) == (kind == "missing")


@pytest.mark.parametrize("kind", damage.YAML)
def test_yaml_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.yaml"
    damage.YAML[kind](path)
    if kind == "a list":
        assert read_yaml(path) == ["a"]
        return
    with pytest.raises(Unreadable) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (nested(MAX_NESTING), None),
        ('{"a": ' + "9" * 309 + "}", {"a": int("9" * 309)}),
        ('{"a": -1.5e308}', {"a": -1.5e308}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
    ],
)
def test_what_stays_within_the_bounds_is_read(tmp_path: Path, text: str, value: Any) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    assert read_json(str(path)) == (json.loads(text) if value is None else value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (nested(MAX_NESTING + 1), f"nested too deeply: more than {MAX_NESTING} levels"),
        ('{"a": ' + nested(MAX_NESTING) + "}", "nested too deeply"),
        ("9" * 310, "a number of 310 digits is out of range"),
        ("-1e309", "the number -1e309 is out of range"),
    ],
)
def test_what_goes_just_beyond_is_not(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(Unreadable, match=reason):
        read_json(path)


def test_the_size_is_bounded_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert read_bytes(path, limit=5) == b"12345"
    with pytest.raises(Unreadable, match="is larger than 4 bytes"):
        read_bytes(path, limit=4)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x {b: 1}\nc: *x\n", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}\n", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
        ("a: 2020-01-02", None),
        ("", None),
        ("a: on", {"a": True}),
    ],
)
def test_yaml_within_the_bounds_is_read(tmp_path: Path, text: str, value: Any) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    found = read_yaml(str(path))
    assert found == value if value is not None else not found or str(found["a"]) == "2020-01-02"


def test_long_texts_count_in_an_expansion(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"a: &x {'y' * 2**20}\nb: [{', '.join(['*x'] * 10)}]\n")
    with pytest.raises(Unreadable, match=r"line 2 expands to more than 8,388,608 characters"):
        read_yaml(path)
    path.write_text(f"a: &x {'y' * 2**20}\nb: [{', '.join(['*x'] * 5)}]\n")
    assert len(read_yaml(path)["b"]) == 5


def test_depth_counts_through_aliases(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    lines = ["a0: &a0 [1]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 120))]
    path.write_text("\n".join(lines))
    with pytest.raises(Unreadable, match="nested too deeply"):
        read_yaml(path)


@pytest.mark.parametrize("kind", damage.LINES)
def test_records_are_refused_with_their_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.jsonl"
    damage.LINES[kind](path)
    if kind == "a list":
        assert list(read_records(path, list, "list")) == [[1]]
        return
    with pytest.raises(Unreadable) as caught:
        list(read_records(path, dict, "record"))
    place = kind in ("missing", "folder", "pipe", "device", "large")
    assert str(caught.value).startswith(f"{path}: " if place else f"{path}: line 1 is no record: ")


def test_a_torn_end_counts_only_where_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("[1]\n\n[2]\n[3")
    assert list(read_records(path, list, "list", torn_end=True)) == [[1], [2]]
    with pytest.raises(Unreadable, match="line 4 is no list"):
        list(read_records(path, list, "list"))
    path.write_text("[1]\n[2]")
    assert list(read_records(path, list, "list")) == [[1], [2]]
    assert list(read_records(path, list, "list", torn_end=True)) == [[1]]


def test_public_readers_take_paths_as_text_and_as_paths(tmp_path: Path) -> None:
    path = tmp_path / "pp_a_seed000.json"
    path.write_text(small_episode().model_dump_json())
    for form in (str(path), path, os.fspath(path)):
        assert load_episode(form).episode_id == "pp_a_seed000"
        assert [f for f in validate_episode(form) if f.level == "error"] == []
    assert select_episodes(["all"], str(tmp_path)) == [path]
    with pytest.raises(DataError, match="no such file"):
        load_trajectory(str(tmp_path / "none"))


@pytest.mark.parametrize("read", [read_json, read_text, read_yaml, load_episode, load_trajectory])
@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
def test_a_text_that_names_no_file_is_refused(read: Any, path: str) -> None:
    with pytest.raises(DataError, match="no path can hold"):
        read(path)


def full_disk(_: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_no_space_left_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", full_disk)
    path = tmp_path / "x.json"
    with pytest.raises(OSError, match=r"No space left on device: .*x\.json'"):
        write_atomic(str(path), "x")
    assert list(tmp_path.iterdir()) == []


class _Full:
    """A stream that takes three bytes and then no more."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._room = stream, 3

    def write(self, data: bytes) -> int:
        if not self._room:
            full_disk(0)
        taken = self._stream.write(data[: self._room])
        self._room = 0
        return taken

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def test_a_record_that_does_not_fit_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "calls.jsonl"
    record = SessionStart(attempt=1, session_id="s", session_type="test", variant="atr")
    with CallLog(str(path)) as log:
        log.append(record)
        before = path.read_bytes()
        stream = log._stream  # pyright: ignore[reportPrivateUsage]
        monkeypatch.setattr(log, "_stream", _Full(stream))
        with pytest.raises(OSError, match=r"No space left on device: .*calls\.jsonl'"):
            log.append(record)
        assert path.read_bytes() == before
        monkeypatch.setattr(log, "_stream", stream)
        log.append(record)
    assert list(read_calls(path)) == [record, record]


@pytest.mark.parametrize("torn", [b"", b"{", b"x" * 200_000])
def test_a_torn_line_is_cut_off_before_the_log_goes_on(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "calls.jsonl"
    record = SessionStart(attempt=1, session_id="s", session_type="test", variant="atr")
    for whole in (0, 2):
        path.write_bytes(record.model_dump_json().encode().join([b"", b"\n"]) * whole + torn)
        with CallLog(path) as log:
            log.append(record)
        assert list(read_calls(path)) == [record] * (whole + 1)


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_a_log_that_can_be_none_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "calls.jsonl"
    damage.ANY[kind](path)
    with pytest.raises((DataError, OSError), match=r"calls\.jsonl"):
        CallLog(path)


def value_of(levels: int) -> Any:
    return [value_of(levels - 1)] if levels else 1


@pytest.mark.parametrize(
    ("value", "fit"),
    [
        (None, True),
        ({"a": [1, 2.5, "x", True, None]}, True),
        (value_of(85), True),
        (value_of(95), False),
        ({"a": float("inf")}, False),
        ({"a": 10**400}, False),
        ({"\ud800": 1}, False),
        (["\ud800"], False),
    ],
)
def test_what_our_own_reader_would_refuse_is_not_written(value: Any, fit: bool) -> None:
    assert is_storable(value) is fit
