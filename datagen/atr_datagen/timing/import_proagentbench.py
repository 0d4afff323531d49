"""From a ProAgentBench copy that the user holds to streams and gold of our own format.

The upstream licence is for research only: nothing converted may be committed, bundled or uploaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from atr_data.reading import read_text
from atr_data.timing.burstiness import burstiness, finite_burstiness
from atr_data.timing.events import (
    AppCategory,
    MeasuredBurstiness,
    Sitting,
    SourceNote,
    Stream,
    StreamHeader,
    WorkEvent,
)
from atr_data.timing.faults import TimingError
from atr_data.timing.gold import Gold, GoldHeader, Need
from atr_data.timing.intents import INTENTS, Intent
from atr_data.timing.set_folder import save_index, save_user
from atr_data.timing.stream_file import body_hash, gold_lines
from atr_datagen.timing.imported_rows import DATABASE, Row, Tally, read_rows

LICENCE_NOTE = (
    "ProAgentBench is licensed for research only: do not commit, bundle or upload what was converted."
)
JOINED, AFTER, BLOCK_GAP, SITTING, HISTORY = 300.0, 15.0, 300.0, 60, 0.8

_CATEGORIES: tuple[tuple[str, AppCategory], ...] = (
    ("chrome|edge|firefox|safari|browser", "browser"),
    ("code|pycharm|idea|studio|cursor", "ide"),
    ("terminal|powershell|cmd|iterm|console", "terminal"),
    ("word|excel|powerpoint|wps|office|sheet|docs", "office"),
    ("acrobat|reader|pdf|zotero", "reader"),
    ("explorer|finder|files", "files"),
    ("outlook|mail", "mail"),
    ("zoom|meeting|teams", "meeting"),
    ("wechat|weixin|slack|qq|telegram|chat|feishu|lark", "chat"),
)
IntentsByEvent = Mapping[tuple[str, str], Intent]


def convert(
    source: Path,
    out: Path,
    zone: str,
    *,
    intents: Path | None = None,
    exclude: Path | None = None,
    lenient: bool = False,
) -> tuple[list[Path], Mapping[str, int]]:
    """Converts every participant's folder; nothing is written unless all of them can be.

    Naive times are taken to be in `zone`. Returns the files and what was left out or marked, by reason.
    Raises TimingError `import_error`; unknown intent labels are one, or `uncategorized` when `lenient`.
    """
    tally = Tally()
    clock = _zone(zone)
    folders = sorted(path for path in source.iterdir() if path.is_dir()) if source.is_dir() else []
    if not folders:
        raise TimingError("import_error", "holds no participant's folder", path=source)
    labels: IntentsByEvent = _read_intents(intents, lenient, tally) if intents else {}
    excluded = frozenset(read_text(exclude).split()) if exclude else frozenset[str]()
    made: list[tuple[Stream, Gold]] = []
    for folder in folders:
        path = folder / DATABASE
        if not path.is_file():
            raise TimingError("import_error", f"no {DATABASE}", path=folder)
        rows = read_rows(path, clock, excluded, tally)
        if not rows:
            raise TimingError("import_error", "table events has no usable row", path=path)
        made.append(_stream(folder.name, rows, labels))
    written = [path for stream, gold in made for path in save_user(stream, gold, out)]
    hashes = {stream.header.user_id: stream.header.sha256 for stream, _ in made}
    return [*written, save_index(hashes, out, split="imported")], dict(tally.counts)


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise TimingError("import_error", f"no time zone {name!r}") from error


def _read_intents(path: Path, lenient: bool, tally: Tally) -> IntentsByEvent:
    found: dict[tuple[str, str], Intent] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = cast("dict[str, Any]", json.loads(line))
            user, event, label = (str(record[key]) for key in ("user", "event_id", "user_intention"))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            reason = "needs user, event_id and user_intention"
            raise TimingError("import_error", reason, path=path, line=number) from error
        known = re.sub(r"[^a-z]+", "_", label.casefold()).strip("_")
        if known not in INTENTS:
            if not lenient:
                raise TimingError("import_error", f"unknown intent label {label!r}", path=path, line=number)
            tally.counts["unknown intent, taken as uncategorized"] += 1
            known = "uncategorized"
        found[_user_id(user), event] = known
    return found


def _user_id(folder: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", folder.casefold())[:32] or "user"


def _stream(folder: str, rows: Sequence[Row], labels: IntentsByEvent) -> tuple[Stream, Gold]:
    user_id = _user_id(folder)
    needs, onset_of = _needs(user_id, rows, labels)
    events = sorted(
        (_event(user_id, row, onset_of.get(row.key)) for row in rows),
        key=lambda event: (event.t_release, event.event_id),
    )
    asked = [event.t_start.timestamp() for event in events if event.self_help]
    start = events[min(len(events) - 1, int(HISTORY * len(events)))].t_release
    header = StreamHeader(
        user_id=user_id,
        role="unknown",
        first_evaluation_day=start,
        source=SourceNote(kind="imported", split="imported"),
        burstiness=MeasuredBurstiness(
            self_help=burstiness(sorted(asked)),
            self_help_finite=finite_burstiness(sorted(asked)),
            all_events=burstiness([event.t_release.timestamp() for event in events]),
            self_help_events=len(asked),
        ),
        sittings=tuple(_sittings(user_id, [event for event in events if event.t_release >= start])),
        sha256=body_hash(events),
    )
    gold_header = GoldHeader(
        user_id=user_id, stream_sha256=header.sha256, sha256=body_hash(gold_lines([], [], needs))
    )
    return Stream(header=header, events=tuple(events)), Gold(header=gold_header, needs=tuple(needs))


def _needs(
    user_id: str, rows: Sequence[Row], labels: IntentsByEvent
) -> tuple[list[Need], dict[str, datetime]]:
    """An onset is the first consultation after a stretch without one; later ones join it. With the needs, the
    onset that each consultation belongs to."""
    needs: list[Need] = []
    onset_of: dict[str, datetime] = {}
    last: datetime | None = None
    for row in rows:
        if not row.asks:
            continue
        if last is None or (row.start - last).total_seconds() > JOINED:
            needs.append(
                Need(
                    need_id=f"{user_id}-n{row.key}",
                    user_id=user_id,
                    t_onset=row.start,
                    intent=labels.get((user_id, row.key)),
                    query=row.query,
                )
            )
        onset_of[row.key] = needs[-1].t_onset
        last = row.end if last is None else max(last, row.end)
    return needs, onset_of


def _event(user_id: str, row: Row, onset: datetime | None) -> WorkEvent:
    """A consultation stays hidden until its need can no longer be met."""
    release = row.end if onset is None else max(row.end, onset + timedelta(seconds=AFTER + 1))
    return WorkEvent(
        event_id=f"{user_id}-{row.key}",
        user_id=user_id,
        t_start=row.start,
        t_end=row.end,
        t_release=release,
        app=row.app,
        window_title=row.title,
        app_category=_category(row.app),
        summary=row.summary,
        screenshots=row.screenshots,
        self_help=row.asks,
    )


def _category(app: str) -> AppCategory:
    name = app.casefold()
    for pattern, category in _CATEGORIES:
        if re.search(pattern, name):
            return category
    return "other"


def _sittings(user_id: str, events: Sequence[WorkEvent]) -> list[Sitting]:
    """Stretches of at most 60 decisions that begin after a break, or where the last one is full."""
    groups: list[list[WorkEvent]] = []
    for event in events:
        last = groups[-1][-1] if groups else None
        gap = (event.t_release - last.t_release).total_seconds() if last else BLOCK_GAP + 1
        open_events = sum(not one.self_help for one in groups[-1]) if groups else 0
        if gap > BLOCK_GAP or open_events + (not event.self_help) > SITTING:
            groups.append([event])
        else:
            groups[-1].append(event)
    return [
        Sitting(
            sitting_id=f"{user_id}-s{number:03d}",
            first_event=group[0].event_id,
            last_event=group[-1].event_id,
            t_end=group[-1].t_release,
        )
        for number, group in enumerate((g for g in groups if any(not e.self_help for e in g)), start=1)
    ]
