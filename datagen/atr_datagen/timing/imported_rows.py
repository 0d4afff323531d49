"""Reads a participant's ProAgentBench database: events and their screenshots, as rows, and nothing else.

Read-only and offline. Required columns are checked first; a row that cannot be used is counted by reason.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, cast

from atr_data.timing.faults import TimingError

DATABASE = "lifetrace_privacy_processed.db"
REQUIRED = ("id", "start_time", "end_time", "app_name", "window_title", "is_llm_event")
OPTIONAL = ("event_summary", "ai_summary", "conversation")
SHORTEST, LONG = 3.0, 3600.0
BAD_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Row:
    """One event of a database. `query` is the user's first words to an assistant."""

    key: str
    start: datetime
    end: datetime
    app: str
    title: str
    asks: bool
    summary: str | None
    query: str | None
    screenshots: tuple[str, ...]


@dataclass(slots=True)
class Tally:
    """What an import left out or marked, by reason."""

    counts: Counter[str] = field(default_factory=Counter[str])


def read_rows(path: Path, zone: tzinfo, excluded: frozenset[str], tally: Tally) -> list[Row]:
    """The usable rows in the order of their starts. Raises TimingError `import_error` naming table and
    column, also when over one row in a hundred is unusable."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            columns = _columns(database, "events", path)
            for column in REQUIRED:
                if column not in columns:
                    raise TimingError("import_error", f"table events lacks column {column}", path=path)
            screenshots = _screenshots(database, path)
            wanted = [*REQUIRED, *(column for column in OPTIONAL if column in columns)]
            names = ", ".join(f'"{column}"' for column in wanted)
            records = [
                dict(zip(wanted, row, strict=True)) for row in database.execute(f"SELECT {names} FROM events")
            ]
    except sqlite3.Error as error:
        raise TimingError("import_error", f"cannot be read as a database: {error}", path=path) from error
    return _usable(records, screenshots, zone, excluded, tally, path)


def _columns(database: sqlite3.Connection, table: str, path: Path) -> set[str]:
    columns = {str(row[1]) for row in database.execute(f"PRAGMA table_info({table})")}
    if not columns:
        raise TimingError("import_error", f"has no table {table}", path=path)
    return columns


def _screenshots(database: sqlite3.Connection, path: Path) -> Mapping[str, list[str]]:
    columns = _columns(database, "screenshots", path)
    for column in ("event_id", "file_path"):
        if column not in columns:
            raise TimingError("import_error", f"table screenshots lacks column {column}", path=path)
    found: dict[str, list[str]] = {}
    for key, file in database.execute("SELECT event_id, file_path FROM screenshots ORDER BY file_path"):
        if key is not None and isinstance(file, str):
            found.setdefault(str(key), []).append(file)
    return found


def _usable(
    records: Iterable[Mapping[str, Any]],
    screenshots: Mapping[str, list[str]],
    zone: tzinfo,
    excluded: frozenset[str],
    tally: Tally,
    path: Path,
) -> list[Row]:
    rows: list[Row] = []
    total = bad = 0
    for record in records:
        total += 1
        key = str(record["id"])
        start, end = _moment(record["start_time"], zone), _moment(record["end_time"], zone)
        if start is None or end is None:
            tally.counts["unparsable time"] += 1
            bad += 1
        elif end < start:
            tally.counts["end before start"] += 1
            bad += 1
        elif key in excluded:
            tally.counts["excluded"] += 1
        elif (end - start).total_seconds() < SHORTEST:
            tally.counts["under 3 s"] += 1
        else:
            if (end - start).total_seconds() > LONG:
                tally.counts["over 1 h, kept"] += 1
            rows.append(_row(record, key, start, end, tuple(screenshots.get(key, ()))))
    if total and bad / total > BAD_SHARE:
        reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(tally.counts.items()))
        raise TimingError(
            "import_error", f"{bad} of {total} rows of table events unusable: {reasons}", path=path
        )
    return sorted(rows, key=lambda row: (row.start, row.key))


def _moment(value: object, zone: tzinfo) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _row(record: Mapping[str, Any], key: str, start: datetime, end: datetime, shots: tuple[str, ...]) -> Row:
    summary = record.get("event_summary") or record.get("ai_summary")
    return Row(
        key=key,
        start=start,
        end=end,
        app=str(record["app_name"] or "")[:200],
        title=str(record["window_title"] or "")[:500],
        asks=str(record["is_llm_event"]).casefold() in ("1", "true", "yes"),
        summary=str(summary)[:200] if summary else None,
        query=_first_query(record.get("conversation")),
        screenshots=shots,
    )


def _first_query(conversation: object) -> str | None:
    """The user's first message in a JSON list of turns; other text counts whole."""
    if not isinstance(conversation, str) or not conversation.strip():
        return None
    try:
        turns = json.loads(conversation)
    except (ValueError, RecursionError):
        return conversation.strip()[:500]
    if isinstance(turns, dict):
        turns = cast("dict[str, Any]", turns).get("messages", [])
    for turn in cast("list[Any]", turns) if isinstance(turns, list) else []:
        if isinstance(turn, dict):
            said = cast("dict[str, Any]", turn)
            if said.get("role") == "user" and isinstance(said.get("content"), str):
                return str(said["content"])[:500]
    return None
