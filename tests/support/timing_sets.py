"""Streams for tests: tiny ones made by hand, and small generated ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path

from atr_client.timing.choosers.chooser import User
from atr_data.timing import (
    Assist,
    Decision,
    Gold,
    GoldHeader,
    Need,
    Sitting,
    SittingLog,
    Stream,
    StreamHeader,
)
from atr_data.timing.events import MeasuredBurstiness, SourceNote, WorkEvent
from atr_data.timing.gold import Scene
from atr_data.timing.priors import count_priors
from atr_data.timing.set_folder import UserFiles, save_index, save_user
from atr_data.timing.stream_file import body_hash, gold_lines
from atr_datagen.timing.generate import generate
from atr_datagen.timing.settings import Settings

START = datetime(2031, 3, 3, 9, tzinfo=UTC)


def moment(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def event(at: float, *, self_help: bool = False, name: str | None = None, **fields: str) -> WorkEvent:
    """An event at a second, called `e<second>` or `h<second>`."""
    return WorkEvent(
        event_id=name or f"{'h' if self_help else 'e'}{at:g}",
        user_id="ada",
        t_start=moment(at),
        t_end=moment(at + 2),
        t_release=moment(at),
        app="Quire",
        window_title=fields.get("title", "notes.odt - Quire"),
        app_category="office",
        summary=fields.get("summary"),
        screen_text=fields.get("text"),
        target=fields.get("target"),
        self_help=self_help,
    )


def tiny_stream(events: Sequence[WorkEvent], end: float | None = None) -> Stream:
    """All events in one sitting `s1`."""
    ordered = tuple(sorted(events, key=lambda one: (one.t_release, one.event_id)))
    header = StreamHeader(
        user_id="ada",
        role="planner",
        first_evaluation_day=START - timedelta(hours=9),
        source=SourceNote(kind="generated", seed=0),
        burstiness=MeasuredBurstiness(),
        sittings=(
            Sitting(
                sitting_id="s1",
                first_event=ordered[0].event_id,
                last_event=ordered[-1].event_id,
                t_end=ordered[-1].t_release if end is None else moment(end),
            ),
        ),
        sha256=body_hash(ordered),
    )
    return Stream(header=header, events=ordered)


def need(
    onset: float, *, opens: float | None = None, cue: float | None = None, **fields: object
) -> tuple[Need, Scene | None]:
    """A need at a second; with `opens`, of a scene that begins there."""
    scene_id = None if opens is None else f"s{onset:g}"
    cue_at = cue if cue is not None else opens
    made = Need(
        need_id=f"n{onset:g}",
        user_id="ada",
        t_cue=None if cue_at is None else moment(cue_at),
        t_onset=moment(onset),
        scene_id=scene_id,
        **fields,  # pyright: ignore[reportArgumentType]
    )
    if scene_id is None or opens is None:
        return made, None
    scene = Scene(
        scene_id=scene_id,
        user_id="ada",
        kind="k",
        attributes={},
        event_ids=("e0",),
        t_first=moment(opens),
        t_cue=moment(cue_at or opens),
        t_onset=moment(onset),
        day=1,
        target="x",
        need_id=made.need_id,
    )
    return made, scene


def tiny_gold(stream: Stream, *parts: tuple[Need, Scene | None]) -> Gold:
    needs = tuple(part[0] for part in parts)
    scenes = tuple(part[1] for part in parts if part[1] is not None)
    return Gold(
        header=GoldHeader(
            user_id="ada",
            stream_sha256=stream.header.sha256,
            sha256=body_hash(gold_lines([], scenes, needs)),
            salt="public",
        ),
        scenes=scenes,
        needs=needs,
    )


def log_of(stream: Stream, offers: dict[str, Assist | None]) -> SittingLog:
    return SittingLog(
        user_id="ada",
        sitting_id="s1",
        stream_sha256=stream.header.sha256,
        decisions=tuple(Decision(event_id=key, assist=offer) for key, offer in offers.items()),
    )


def generated(number: int = 2, salt: str = "test-salt", seed: int = 0) -> tuple[User, ...]:
    """The first users of a `lite` set under a salt."""
    made, to_come = _set(salt, seed)
    made += islice(to_come, max(0, number - len(made)))
    return tuple(made[:number])


@cache
def _set(salt: str, seed: int) -> tuple[list[User], Iterator[User]]:
    """The users that were made so far, and those to come."""
    settings = Settings(split="lite", salt=salt, seed=seed)
    return [], (User(one.stream, one.gold) for one in generate(settings))


def saved_set(folder: Path, number: int = 2) -> Path:
    """A folder with the first users of a set."""
    users = generated(number)
    for user in users:
        save_user(user.stream, user.gold, folder)
    hashes = {user.user_id: user.stream.header.sha256 for user in users}
    save_index(hashes, folder, split="lite", seed=0)
    return folder


def files_of(stream: Stream, gold: Gold) -> UserFiles:
    return UserFiles(stream, gold, count_priors(stream, gold))
