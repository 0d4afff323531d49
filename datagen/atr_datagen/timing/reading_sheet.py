"""Gate G6: can a reader tell generated days from days that a person wrote?

A sheet shows excerpts of both kinds in one form. Items are called and ordered by a hash of what they show;
the key is a file apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Literal, Self, cast, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from atr_data.reading import read_json, read_text
from atr_data.timing.events import AppCategory, Stream, WorkEvent
from atr_data.timing.faults import TimingError
from atr_data.yaml_reading import read_yaml_text
from atr_datagen.timing.lexicon import load_words
from atr_datagen.timing.walk import any_login
from atr_datagen.timing.windows import furnish

WRITTEN = Path(__file__).with_name("written")
"""Parts of days that were written by hand, none of them from a template."""

Origin = Literal["generated", "written"]
BOUND, READERS = 0.6, 5
"""Share of right answers at most, over so many readers."""

_LENGTH = (14, 18)
_TIME = re.compile(r"[0-2]\d:[0-5]\d:[0-5]\d")


@dataclass(frozen=True, slots=True)
class Sheet:
    """`text` is for readers; `key` says of each item, by its code, what it is."""

    text: str
    key: Mapping[str, Origin]


def make_sheet(streams: Sequence[Stream], seed: int, folder: Path = WRITTEN) -> Sheet:
    """As many generated excerpts as written ones, each from anywhere in a day, and of each job one at the
    most: fewer when the set has fewer jobs. `seed` chooses them. Raises TimingError `bad_config` when there
    is nothing to show or a written day cannot be read."""
    random = Random(f"reading sheet|{seed}")
    written = [_written(path) for path in sorted(folder.glob("*.txt"))]
    of_job: dict[object, list[Stream]] = {}
    for stream in streams:
        of_job.setdefault(stream.header.source.parameters.get("job"), []).append(stream)
    shown = min(len(written), len(of_job))
    if not shown:
        raise TimingError("bad_config", "a sheet needs written excerpts and a set", path=folder)
    jobs = [random.choice(users) for users in random.sample(list(of_job.values()), shown)]
    planted = load_words().injections
    items: dict[str, tuple[Origin, list[str]]] = {}
    for day, stream in zip(random.sample(written, shown), jobs, strict=True):
        length = min(random.randint(*_LENGTH), len(day))
        first = random.randrange(len(day) - length + 1)
        like, lines = day[first : first + length], _excerpt(random, stream, length, planted)
        items |= {_code(like): ("written", like), _code(lines): ("generated", lines)}
    parts = [INSTRUCTIONS]
    parts.extend("\n".join([f"[{code}]", *items[code][1]]) for code in sorted(items))
    return Sheet("\n\n".join(parts) + "\n", {code: items[code][0] for code in sorted(items)})


def _written(path: Path) -> list[str]:
    """The events of a file as a sheet shows them. They are put down as those of a chronicle are, each after
    its time; the applications are drawn as a user's are."""
    random = Random(path.stem)
    desk = furnish(random, "any", any_login(random))
    found: list[str] = []
    for number, raw in enumerate(read_text(path).splitlines(), start=1):
        parts = [part.strip() for part in raw.split("|")]
        if not raw.strip() or raw.startswith(("#", "role:")):
            continue
        if len(parts) not in (4, 5) or parts[1] not in get_args(AppCategory) or not _TIME.fullmatch(parts[0]):
            reason = "an event is 'HH:MM:SS | CATEGORY | TITLE | SUMMARY' or '... | SUMMARY | SCREEN TEXT'"
            raise TimingError("bad_config", reason, path=path, line=number)
        time, category, title, *said = parts
        app, window = desk.window(cast("AppCategory", category), title)
        if said := [text for text in said if text not in ("", "-")]:
            found.append(" | ".join([time, app, window, *said]))
    if len(found) < _LENGTH[0]:
        raise TimingError("bad_config", f"{len(found)} events, {_LENGTH[0]} at least", path=path)
    return found


def _code(lines: Sequence[str]) -> str:
    return sha256("\n".join(lines).encode()).hexdigest()[:6]


INSTRUCTIONS = """\
Each item is a stretch of one person's day at a desk: time, application, window, what was done. Some were made
by a program, the others were written by hand, about as many of either: say of each which it is.

Answer in a YAML file of this form, one line for each item, `generated` or `written`:

  sheet: days
  reader: what you are, in a few words
  answers:
    "0a1b2c": generated"""


def _excerpt(random: Random, stream: Stream, length: int, planted: tuple[str, ...]) -> list[str]:
    """A stretch of ordinary events of one day that have something to say. Titles that were planted are left
    out."""
    told = [
        event
        for event in stream.events
        if not event.self_help
        and (event.summary or event.screen_text)
        and not event.window_title.startswith(planted)
    ]
    starts = [n for n in range(len(told) - length) if _same_day(told[n], told[n + length - 1])]
    if not starts:
        raise TimingError("bad_config", f"no day of {stream.header.user_id} has {length} events")
    first = random.choice(starts)
    return [_shown(event) for event in told[first : first + length]]


def _shown(event: WorkEvent) -> str:
    said = [text for text in (event.summary, event.screen_text) if text]
    return " | ".join([f"{event.t_release:%H:%M:%S}", event.app, event.window_title, *said])


def _same_day(one: WorkEvent, other: WorkEvent) -> bool:
    return one.t_release.date() == other.t_release.date()


def read_key(path: Path) -> dict[str, Origin]:
    """A key as it was written beside a sheet. Raises TimingError `bad_config`."""
    try:
        return _KEY.validate_python(read_json(path))
    except ValidationError as error:
        raise TimingError(
            "bad_config", f"no key of a sheet: {error.errors()[0]['msg']}", path=path
        ) from error


_KEY = TypeAdapter(dict[str, Origin])


class DayReading(BaseModel):
    """One reader's answers to a sheet of days, by the codes of its items."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    sheet: Literal["days"]
    reader: str
    answers: dict[str, Origin]

    @classmethod
    def read(cls, path: Path, key: Mapping[str, Origin]) -> Self:
        """Raises TimingError `bad_config` with the place of what is no answer to an item of the key."""
        try:
            found = cls.model_validate(read_yaml_text(path))  # codes may look like numbers
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or "file"
            raise TimingError("bad_config", f"{place}: {first['msg']}", path=path) from error
        for code in found.answers:
            if code not in key:
                raise TimingError("bad_config", f"answers.{code}: the key has no such item", path=path)
        return found


def shares_right(
    key: Mapping[str, Origin], answers: Sequence[Mapping[str, Origin]]
) -> tuple[float, dict[Origin, float]]:
    """Over all readers and items, and of each kind; an item without an answer counts as a coin toss. All 0
    without readers."""
    points: dict[Origin, list[float]] = {"generated": [], "written": []}
    for said in answers:
        for code, origin in key.items():
            points[origin].append(0.5 if code not in said else float(said[code] == origin))
    everything = [point for kind in points.values() for point in kind]
    return _mean(everything), {origin: _mean(found) for origin, found in points.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
