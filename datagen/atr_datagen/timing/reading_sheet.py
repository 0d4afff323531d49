"""Gate G6: can a reader tell generated days from days that a person wrote?

A sheet shows excerpts of both kinds in one form, in an order that a seed decides; the key is a file apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from atr_data.reading import read_text
from atr_data.timing.events import Stream, WorkEvent
from atr_data.timing.faults import TimingError

WRITTEN = Path(__file__).with_name("written")
"""Excerpts of days that were written by hand, none of them from a template."""

GENERATED, BY_HAND = "generated", "written"
BOUND = 0.6
"""Share of right answers at most, over all readers."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """`text` is for readers; `key` says of each item, by its number, what it is."""

    text: str
    key: Mapping[str, str]


def make_sheet(streams: Sequence[Stream], seed: int, folder: Path = WRITTEN) -> Sheet:
    """As many generated excerpts as there are written ones, of like length, from different users' days as far
    as there are users. Raises TimingError `bad_config` when there is nothing to show."""
    random = Random(f"reading sheet|{seed}")
    written = [read_text(path).strip().splitlines() for path in sorted(folder.glob("*.txt"))]
    if not written or not streams:
        raise TimingError("bad_config", "a sheet needs written excerpts and a set", path=folder)
    users = list(streams)
    random.shuffle(users)
    items = [(BY_HAND, lines) for lines in written]
    for number, lines in enumerate(written):
        items.append((GENERATED, _excerpt(random, users[number % len(users)], len(lines))))
    random.shuffle(items)
    parts = [_INSTRUCTIONS]
    for number, (_, lines) in enumerate(items, start=1):
        parts.append("\n".join([f"## Item {number}", "", *(f"    {line}" for line in lines)]))
    return Sheet("\n\n".join(parts) + "\n", {str(n): kind for n, (kind, _) in enumerate(items, start=1)})


_INSTRUCTIONS = f"""# Days at a desk

Each item is a stretch of one person's day on a computer: time, application, window, what was done. Some were
made by a program, the others were written by hand. Answer for each item `{GENERATED}` or `{BY_HAND}`, one
line each: the number, a colon, the answer."""


def _excerpt(random: Random, stream: Stream, length: int) -> list[str]:
    """A stretch of ordinary events of one day that have something to say."""
    told = [event for event in stream.events if not event.self_help and event.summary]
    starts = [n for n in range(len(told) - length) if _same_day(told[n], told[n + length - 1])]
    if not starts:
        raise TimingError("bad_config", f"no day of {stream.header.user_id} has {length} events")
    first = random.choice(starts)
    return [
        f"{event.t_release:%H:%M:%S} | {event.app} | {event.window_title} | {event.summary}"
        for event in told[first : first + length]
    ]


def _same_day(one: WorkEvent, other: WorkEvent) -> bool:
    return one.t_release.date() == other.t_release.date()


def read_answers(path: Path, key: Mapping[str, str]) -> dict[str, str]:
    """A reader's answers by item. Raises TimingError `bad_config` with the line of one that is none."""
    found: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        item, _, answer = (part.strip() for part in line.partition(":"))
        if item not in key or item in found or answer not in (GENERATED, BY_HAND):
            reason = (
                f"{line.strip()!a:.60} is no `NUMBER: {GENERATED}` or `NUMBER: {BY_HAND}` of an item left"
            )
            raise TimingError("bad_config", reason, path=path, line=number)
        found[item] = answer
    return found


def share_right(key: Mapping[str, str], readers: Sequence[Mapping[str, str]]) -> float:
    """Over all readers and items; one without an answer counts as a coin toss. 0 without readers."""
    right = sum(
        0.5 if (said := reader.get(item)) is None else float(said == kind)
        for reader in readers
        for item, kind in key.items()
    )
    return right / (len(readers) * len(key)) if readers and key else 0.0
