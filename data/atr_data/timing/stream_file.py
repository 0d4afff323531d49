"""Stream and gold files: one JSON document per line, the header first, each file with a hash of its body."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from atr_data.files import write_atomic
from atr_data.load import describe
from atr_data.reading import Unreadable, read_text
from atr_data.timing.events import Stream, StreamHeader, TimingRecord, WorkEvent
from atr_data.timing.faults import TimingError
from atr_data.timing.gold import Gold, GoldHeader, Habit, Need, Scene

ModelT = TypeVar("ModelT", bound=BaseModel)
Location = str | os.PathLike[str]


class GoldLine(TimingRecord):
    """One line of a gold file: exactly one of its parts."""

    habit: Habit | None = None
    scene: Scene | None = None
    need: Need | None = None


def body_hash(records: Iterable[BaseModel]) -> str:
    """The sha256 of records as they stand in a file."""
    digest = sha256()
    for record in records:
        digest.update(record.model_dump_json().encode() + b"\n")
    return digest.hexdigest()


def gold_lines(habits: Iterable[Habit], scenes: Iterable[Scene], needs: Iterable[Need]) -> list[GoldLine]:
    """The body of a gold file."""
    return [
        *(GoldLine(habit=habit) for habit in habits),
        *(GoldLine(scene=scene) for scene in scenes),
        *(GoldLine(need=need) for need in needs),
    ]


def save_stream(stream: Stream, path: Location) -> None:
    """Writes the file whole or not at all."""
    _write(Path(path), [stream.header, *stream.events])


def save_gold(gold: Gold, path: Location) -> None:
    """Writes the file whole or not at all."""
    _write(Path(path), [gold.header, *gold_lines(gold.habits, gold.scenes, gold.needs)])


def load_stream(path: Location) -> Stream:
    """Raises TimingError `bad_stream`, with the line, for a file that is not what `save_stream` writes:
    unknown fields, a repeated id, events out of order, times without a zone, a wrong hash, no events."""
    place = Path(path)
    lines = _lines(place)
    header = _parse(StreamHeader, lines[0], place, 1)
    events: list[WorkEvent] = []
    seen: set[str] = set()
    for number, line in enumerate(lines[1:], start=2):
        event = _parse(WorkEvent, line, place, number)
        if event.event_id in seen:
            _fail(f"event_id {event.event_id!r} occurs twice", place, number)
        if event.user_id != header.user_id:
            _fail(f"event of {event.user_id!r} in the stream of {header.user_id!r}", place, number)
        if events and (event.t_release, event.event_id) < (events[-1].t_release, events[-1].event_id):
            _fail("events are not sorted by t_release and event_id", place, number)
        seen.add(event.event_id)
        events.append(event)
    if not events:
        _fail("holds no events", place, 2)
    for sitting in header.sittings:
        if not {sitting.first_event, sitting.last_event, sitting.decide_from or sitting.first_event} <= seen:
            _fail(f"sitting {sitting.sitting_id!r} names an event that is not there", place, 1)
    if _hash(lines[1:]) != header.sha256:
        _fail("the events do not match the sha256 of the header", place, 1)
    return Stream(header=header, events=tuple(events))


def load_gold(path: Location, stream: Stream) -> Gold:
    """The gold of `stream`. Raises TimingError: `gold_mismatch` when it belongs to another one, `bad_stream`
    when the file itself is damaged."""
    place = Path(path)
    lines = _lines(place)
    header = _parse(GoldHeader, lines[0], place, 1)
    parts = [_parse(GoldLine, line, place, number) for number, line in enumerate(lines[1:], start=2)]
    if _hash(lines[1:]) != header.sha256:
        _fail("the gold does not match the sha256 of the header", place, 1)
    gold = Gold(
        header=header,
        habits=tuple(part.habit for part in parts if part.habit),
        scenes=tuple(part.scene for part in parts if part.scene),
        needs=tuple(part.need for part in parts if part.need),
    )
    check_gold(gold, stream, place)
    return gold


def check_gold(gold: Gold, stream: Stream, path: Path | None = None) -> None:
    """Raises TimingError `gold_mismatch` unless the gold was made for exactly these events."""
    if gold.header.stream_sha256 != stream.header.sha256:
        raise TimingError(
            "gold_mismatch", f"gold and stream of {stream.header.user_id!r} have different hashes", path=path
        )


def _write(path: Path, records: Iterable[BaseModel]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, "".join(f"{record.model_dump_json()}\n" for record in records))


def _hash(lines: Iterable[str]) -> str:
    digest = sha256()
    for line in lines:
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _lines(path: Path) -> list[str]:
    try:
        text = read_text(path)
    except Unreadable as error:
        raise TimingError("bad_stream", error.reason, path=path) from error
    lines = text.removesuffix("\n").split("\n") if text else []
    if not lines:
        _fail("is empty", path, 1)
    return lines


def _parse(model: type[ModelT], line: str, path: Path, number: int) -> ModelT:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        key, reason = describe(error.errors(include_url=False)[0])
        raise TimingError("bad_stream", f"{key}: {reason}", path=path, line=number) from error


def _fail(reason: str, path: Path, line: int) -> NoReturn:
    raise TimingError("bad_stream", reason, path=path, line=line)
